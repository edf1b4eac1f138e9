/** The view of jobs shows `clean_env`, which is kept in `start`: the views are made anew with every version. */
export default '';

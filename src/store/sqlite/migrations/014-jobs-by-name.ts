/** Jobs of one name are asked for by people and pages; jobs without a name pay nothing for it. */
export default `
CREATE INDEX job_by_name ON job (name, number) WHERE name IS NOT NULL;
`;

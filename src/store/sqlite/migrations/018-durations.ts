/** How long an attempt took by a clock that does not step. Null: not measured, so its two times tell. */
export default `
ALTER TABLE attempt ADD COLUMN duration_ms INTEGER;
`;

/**
 * Puts a quote in front of text that a spreadsheet would run as a formula. Numbers stay as they are. In many countries, spreadsheets
 * split lines at semicolons, also in a cell that has quotes around it.
 */
export function escapeFormula(text: string): string {
  return text.replace(/(^(?![+-]?\d+(\.\d+)?$)|;)(?="*[=+\-@＝＋－＠\t\r])/g, "$1'");
}

/** Puts quotes around a cell that needs them. */
export function csvCell(text: string): string {
  return /[",;\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

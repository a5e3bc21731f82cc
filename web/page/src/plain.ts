/* Names compare without case and marks, as the catalog's do. */
export const plain = (name: string): string => name.toLowerCase().replace(/[\s_.-]/g, "");
/* As toLocaleString("en") with at most `digits` digits after the decimal point. It is called a thousand times
 * a frame, so a number without an exponent is written by hand. */
export function commas(v: number, digits = 3): string {
  const text = String(v), [whole, part = ""] = text.split(".");
  if (part.length > digits || /[^\d.-]/.test(text)) return v.toLocaleString("en", { maximumFractionDigits: digits });
  return whole.replace(/\B(?=(\d{3})+$)/g, ",") + (part && "." + part);
}
/* The same with six digits in all and no groups. */
export function decimal(v: number): string {
  const text = String(Number(v.toPrecision(6)));
  return /[^\d.-]/.test(text) ? v.toLocaleString("en", { useGrouping: false, maximumSignificantDigits: 6 }) : text;
}
/* Two digits in a sentence, with groups. */
export const two = (v: number): string => commas(Number(v.toPrecision(2)), 6);
export const three = (v: number): string => commas(Number(v.toPrecision(3)), 6);

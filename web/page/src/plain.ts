/* Names compare without case and marks, as the catalog's do. */
export const plain = (name: string): string => name.toLowerCase().replace(/[\s_.-]/g, "");
/* Two digits in a sentence, with groups. */
export const two = (v: number): string => Number(v.toPrecision(2)).toLocaleString("en", { maximumFractionDigits: 6 });
export const three = (v: number): string => Number(v.toPrecision(3)).toLocaleString("en", { maximumFractionDigits: 6 });

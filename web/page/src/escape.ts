/* Text as it may stand in HTML and SVG. */
export const escape = (s: string): string => s.replace(/[&<>"']/g, c => `&#${c.charCodeAt(0)};`);

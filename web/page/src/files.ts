/* What the page hands out as files. */
import type { Picture } from "./picture_type";

export function save(name: string, type: string, what: string | Blob): void {
  const url = URL.createObjectURL(new Blob([what], { type })), link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url));
}

export function csv(picture: Picture): string {
  const cell = (c: string | number): string => typeof c === "string" && /[",\n]/.test(c) ? `"${c.replace(/"/g, '""')}"` : String(c);
  return [picture.table.columns, ...picture.table.rows].map(row => row.map(cell).join(",")).join("\n") + "\n";
}

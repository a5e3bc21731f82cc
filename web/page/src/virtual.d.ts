declare module "*.css" { const text: string; export default text; }
declare module "virtual:lecture" {
  export const CHAPTER_OF: Record<string, { number: number; title: string; time: string; question: string }>;
  export const DECKS: Record<string, Record<string, string>>;
  export const STATEMENTS: Record<string, { statement: string; second: number; deck: string } | undefined>;
}

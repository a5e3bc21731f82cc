declare module "virtual:worker" { const code: string; export default code; }
declare module "*.css" { const text: string; export default text; }

export function generateSite(pages: number, seed: number): Map<string, Buffer>

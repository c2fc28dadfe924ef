export function archives(): string[]
export function readArchive(name: string): Map<string, Buffer>

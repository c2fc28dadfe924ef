/** Names of types and properties. */

const SCHEMA_ORG = /^(?:https?:\/\/(?:www\.)?schema\.org\/|schema:)(?=\w)/i

/** Removes the address of schema.org, which nearly all structured data uses: `http://schema.org/Product` → `Product`. */
export function shortName(name: string): string {
  return name.replace(SCHEMA_ORG, '')
}

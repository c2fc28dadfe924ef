/** Hooks for the workers of hooks.ts. */

import { linkGraph } from 'kumo/graph'
import { jsonl } from 'kumo/sinks'

export const graph = (folder) => linkGraph(`${folder}/graph-{worker}`)
export const lines = (folder) => jsonl(`${folder}/pages-{worker}.jsonl`)

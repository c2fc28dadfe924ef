/** Hooks for workers.test.ts, as a module that worker threads load. */

import { linkGraph } from 'kumo/graph'
import { csv, jsonl, sqlite } from 'kumo/sinks'
import { warc } from 'kumo/warc'

export const archive = (folder: string) => warc(folder)
export const graph = (folder: string) => linkGraph(`${folder}/graph-{worker}`)
export const lines = (folder: string) => jsonl(`${folder}/pages-{worker}.jsonl`)
export const table = (folder: string) => csv(`${folder}/pages-{worker}.csv`)
/** Several workers write to one database. */
export const database = (folder: string) => sqlite(`${folder}/pages.db`)

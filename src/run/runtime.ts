/** Refuses to crawl where a crawl would hang, or end without a page. */

import { KumoError } from '../errors.js'
import { KEEP_EXTERNAL } from '../require.js'
import { isInPackage } from './threads/program.js'

/** Throws before anything is opened if this crawl cannot run here. */
export function assertRunnable(workers: number): void {
  const { bun, deno } = process.versions
  if (bun !== undefined) {
    throw unsupported(`Kumo does not run on Bun (${bun}), which has no undici: use Node.js 20.18.1 or later`)
  }
  if (deno !== undefined && workers > 0) {
    const what = `workers(${workers}) does not run on Deno (${deno})`
    throw unsupported(`${what}: leave workers out, or use Node.js 20.18.1 or later`)
  }
  if (!isInPackage()) {
    const message = `Kumo runs from a bundle, without the files of its package; ${KEEP_EXTERNAL}`
    throw new KumoError('KUMO_NOT_INSTALLED', message)
  }
}

function unsupported(message: string): KumoError {
  return new KumoError('KUMO_UNSUPPORTED_RUNTIME', message)
}

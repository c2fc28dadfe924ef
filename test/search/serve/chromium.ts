/**
 * Chromium of Debian's package, for tests of the search page. It is installed if it is missing and the machine allows that;
 * otherwise the tests say why they skip.
 */

import { spawnSync } from 'node:child_process'
import { type Browser, chromium } from 'playwright-core'

const PROGRAM = '/usr/bin/chromium'
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Why there is no Chromium on this machine; undefined if there is one. */
export function whyNoChromium(): string | undefined {
  if (hasChromium()) return undefined
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'Chromium is not installed, and only root can install it: apt-get install chromium fonts-noto-cjk'
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  for (const args of [
    ['update'],
    ['install', '-y', '--no-install-recommends', 'chromium', 'fonts-noto-cjk'],
  ]) {
    // Several test processes may install at once; the lock of apt lets one after the other.
    spawnSync('apt-get', ['-o', 'DPkg::Lock::Timeout=120', ...args], { env: environment, stdio: 'ignore' })
    if (hasChromium()) return undefined
  }
  return 'Chromium is not installed, and apt-get could not install it'
}

function hasChromium(): boolean {
  return spawnSync(PROGRAM, ['--version'], { stdio: 'ignore' }).status === 0
}

export function startChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: PROGRAM, headless: true, args: FLAGS, timeout: 120_000 })
}

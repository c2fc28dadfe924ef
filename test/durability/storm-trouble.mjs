/** Code of a user that ends its worker thread, or keeps it from being opened, some milliseconds after it was loaded. */

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

const WHEN_OPENED = {
  async open(ms) {
    await sleep(ms)
    throw new Error('not today')
  },
  async openExit(ms) {
    await sleep(ms)
    process.exit(3)
  },
}

const LATER = {
  exit: () => process.exit(3),
  throw() {
    throw new Error('thrown where nobody catches it')
  },
  block() {
    for (;;);
  },
}

export function trouble({ how, ms }) {
  let timer
  return {
    name: 'trouble',
    async open() {
      await WHEN_OPENED[how]?.(ms)
    },
    page() {
      if (timer === undefined && LATER[how]) timer = setTimeout(LATER[how], ms)
    },
    close: () => clearTimeout(timer),
  }
}

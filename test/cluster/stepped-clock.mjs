/** Lets the parent of this process set its wall clock. It is loaded before anything that keeps `Date.now`. */

const now = Date.now
let stepMs = 0

Date.now = () => now() + stepMs
process.on('message', (/** @type {{ stepMs?: number }} */ message) => {
  if (message.stepMs === undefined) return
  stepMs += message.stepMs
  console.log(JSON.stringify({ what: 'clock set', stepMs }))
})
// Whoever listens to its parent would never end.
process.channel?.unref()

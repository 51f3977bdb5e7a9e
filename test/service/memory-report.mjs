/** Loaded into a service under test: at each SIGUSR2 it says how much memory is in use after a collection. */
let count = 0

process.on('SIGUSR2', () => {
  global.gc?.()
  global.gc?.()
  const { heapUsed, rss } = process.memoryUsage()
  process.stdout.write(`memory ${++count}: heapUsed ${heapUsed} rss ${rss} end\n`)
})

/**
 * Loaded into a service under test. At each SIGUSR2 it prints the memory in use after a garbage collection.
 */
let count = 0

process.on('SIGUSR2', () => {
  global.gc?.()
  global.gc?.()
  const { heapUsed, rss } = process.memoryUsage()
  process.stdout.write(`memory ${++count}: heapUsed ${heapUsed} rss ${rss} end\n`)
})

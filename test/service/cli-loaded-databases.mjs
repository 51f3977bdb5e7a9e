/** Preloaded: tells at the end of the process whether it has loaded the database's native part. */
process.on('exit', () => {
  const isLoaded = process.report.getReport().sharedObjects.some((path) => path.includes('better_sqlite3'))
  process.stderr.write(`database loaded: ${isLoaded}\n`)
})

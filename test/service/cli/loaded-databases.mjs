/** Preloaded: prints at the end of the process whether it has loaded the native part of the database. */
process.on('exit', () => {
  const isLoaded = process.report.getReport().sharedObjects.some((path) => path.includes('better-sqlite3'))
  process.stderr.write(`database loaded: ${isLoaded}\n`)
})

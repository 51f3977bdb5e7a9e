/** Preloaded: the native part of the database cannot be loaded, as after a change of Node's version. */
const { dlopen } = process
process.dlopen = (module, path, ...flags) => {
  if (path.includes('better-sqlite3'))
    throw new Error(`The module '${path}'\nwas compiled against a different Node.js version`)
  dlopen.call(process, module, path, ...flags)
}

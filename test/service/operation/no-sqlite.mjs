/** Preloaded: no package of SQLite can be found, as after an installation without a compiler on Node 20. */
import Module from 'node:module'

const { _resolveFilename: resolve } = Module
Module._resolveFilename = (name, ...parameters) => {
  if (!name.startsWith('better-sqlite3')) return resolve(name, ...parameters)
  throw Object.assign(new Error(`Cannot find module '${name}'`), { code: 'MODULE_NOT_FOUND' })
}

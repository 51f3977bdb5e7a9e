/** What `main.js` of the build is: it runs the service next to it. */
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { loadScript } from '../src/internals/cached-script.js'

const script = loadScript(fileURLToPath(new URL('service.js', import.meta.url)))
script.runInThisContext()(createRequire(import.meta.url), import.meta.url)

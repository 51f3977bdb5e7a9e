/** What `main.js` of the build is: it runs the service next to it. */
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { loadScript } from '../src/internals/cached-script.js'
import { boundHeapGrowth } from '../src/internals/heap-growth.js'

// Before the script, whose code V8 takes only under the flags under which it was kept.
boundHeapGrowth()
const script = loadScript(fileURLToPath(new URL('service.js', import.meta.url)))
script.runInThisContext()(createRequire(import.meta.url), import.meta.url)

/**
 * Tests the last commit on another Node, in a clean clone: the installation, `npm test`, the smoke tests and the demo.
 *
 *   npm run test:node -- 24
 *
 * A package of npm has that Node, with the headers for what is compiled. Where it cannot be had, nothing is tested, and a sentence
 * says so.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const STEPS = ['ci', 'test', 'run test:smoke', 'run test:slow -- operator/demo']
const [version = ''] = process.argv.slice(2)
if (!/^\d+(\.\d+){0,2}$/.test(version)) {
  console.error('Name a version of Node, such as 24 or 20.19.')
  process.exit(2)
}

const name = `node-${process.platform}-${process.arch}`
const cache = resolve('node_modules/.cache/nodes', version)
const install = ['install', '--prefix', cache, '--no-save', '--ignore-scripts', `${name}@${version}`]
if (spawnSync('npm', install, { stdio: 'inherit' }).status !== 0) {
  console.log(`Nothing was tested: npm could not install ${name}@${version}.`)
  process.exit(0)
}

const nodedir = join(cache, 'node_modules', name)
const env = { ...process.env, PATH: `${nodedir}/bin:${process.env.PATH}`, npm_config_nodedir: nodedir }
const clone = mkdtempSync(join(tmpdir(), 'quote-aggregator-node-'))
execFileSync('git', ['clone', '--quiet', '.', clone])

const outcomes: string[] = [execFileSync('node', ['--version'], { env, encoding: 'utf8' }).trim()]
let hasFailed = false
for (const step of STEPS) {
  const startedAt = performance.now()
  const { status } = spawnSync('npm', step.split(' '), { cwd: clone, env, stdio: 'inherit' })
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0)
  outcomes.push(`npm ${step}: ${status === 0 ? 'passed' : 'failed'} after ${seconds} s`)
  hasFailed ||= status !== 0
}
console.log(outcomes.join('\n'))
if (hasFailed) console.log(`The clone is left in ${clone}.`)
else rmSync(clone, { recursive: true })
process.exitCode = hasFailed ? 1 : 0

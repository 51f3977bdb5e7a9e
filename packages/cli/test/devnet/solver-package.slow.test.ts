import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import ts from 'typescript'
import { afterAll, expect, it } from 'vitest'
import { packPackage } from '../../../../test/support/packages/pack-package.js'
import { startProcess } from '../../../../test/support/process/process.js'
import { shared } from '../../../../test/support/shared.js'
import {
  exampleAccount as account,
  isOfExample,
  keyOf,
  offersFor,
  SHORTER,
  startNetworkFor,
} from './example-swaps.js'

/** What was compiled for this repository. Where no built SQLite for Node 20 can be downloaded, each installation compiles it. */
const BUILT_SQLITE = 'node_modules/better-sqlite3-node20/build'
const EXAMPLE = 'examples/solver-typescript/solver.ts'
const NPM = {
  npm_config_ignore_scripts: 'true',
  npm_config_audit: 'false',
  npm_config_prefer_offline: 'true',
}
const run = promisify(execFile)

const parent = await mkdtemp(join(tmpdir(), 'quote-aggregator-'))
const project = join(parent, 'project')
await mkdir(project)
await writeFile(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
const tarball = await packPackage('solver', parent)
for (const command of await installCommands()) {
  const here = command.replace(/\S+\.tgz/, tarball)
  await run('bash', ['-c', here], { cwd: project, env: { ...process.env, ...NPM } })
}
await symlink(resolve(BUILT_SQLITE), join(project, BUILT_SQLITE))
await copyFile(EXAMPLE, join(project, 'solver.ts'))
const network = await shared(startNetworkFor(account))

afterAll(async () => {
  await rm(parent, { recursive: true, force: true })
})

/** The commands with which the README installs the package, and what its example in TypeScript needs. */
async function installCommands(): Promise<string[]> {
  const readme = await readFile('packages/solver/README.md', 'utf8')
  const commands = [...readme.matchAll(/^npm install .*$/gm)].map(([command]) => command)
  expect(commands).toHaveLength(2)
  return commands
}

/** Starts the example as the README does. */
async function startExample() {
  const readme = await readFile('packages/solver/README.md', 'utf8')
  const [, args = ''] = /^PRIVATE_KEY=0x… node (.*)$/m.exec(readme) ?? []
  expect(args).toContain('solver.ts')
  const environment = {
    AGGREGATOR_URL: network.serviceUrl,
    RPC_URL: network.devnet.rpcUrl,
    PRIVATE_KEY: keyOf(account),
  }
  return startProcess(process.execPath, args.split(' '), environment, { cwd: project })
}

it('the example of a solver, and the installed package itself, type-check', () => {
  const program = ts.createProgram([join(project, 'solver.ts')], {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    strict: true,
    types: ['node'],
    typeRoots: [join(project, 'node_modules/@types')],
  })
  // The types of other packages would take most of the time.
  const isOwn = ({ fileName }: ts.SourceFile) => !/node_modules\/(?!@quote-aggregator)/.test(fileName)
  const files = program.getSourceFiles().filter(isOwn)
  expect(files.length).toBeGreaterThan(10)
  const problems = files.flatMap((file) => ts.getPreEmitDiagnostics(program, file))
  expect(problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([])
})

it('the example of a solver runs with the installed package, and wins a quote', async () => {
  const solver = await startExample()
  await solver.waitFor(/session open$/m)
  const [best] = await offersFor(network, SHORTER)
  expect(best && isOfExample(best)).toBe(true)
  expect(existsSync(join(project, 'solver.db'))).toBe(true)
  solver.signal('SIGTERM')
  expect(await solver.exited, solver.output()).toBe(0)
})

import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createAggregatorClient } from '@quote-aggregator/client'
import { bytesToHex, type Hex } from 'viem'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import type { DevAccount } from '../../../packages/cli/src/devnet/deploy.js'
import { codeBlocks } from '../../documentation/code-blocks.js'
import { solverAccounts, startChain, user } from '../../support/chain/chain.js'
import { createCalls } from '../../support/chain/contract-calls.js'
import { cloneSources } from '../../support/packages/clone.js'
import { startProcess } from '../../support/process/process.js'
import { startService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { honest, startSolver } from '../../support/solvers/solver.js'
import { createProject } from './client-project.js'

const INPUT = 10n ** 18n
const OUTPUT = '2500000000'
const [account] = solverAccounts

/** What an integrator writes around the examples; the solver's endpoint is up already. */
const PROGRAM = `
import { OrderState, QuoteService } from '@quote-aggregator/client/proto'
import { registerSolver } from './out/register-solver.js'
import { swap } from './out/swap.js'

const { solver, options, terms } = JSON.parse(process.argv[2])
console.log(QuoteService.typeName, OrderState.SETTLED)
const listed = await registerSolver(solver)
console.log('listed', listed.name, listed.address)
const amount = BigInt(terms.amount)
await swap(options, { ...terms, amount }, { maxInputAmount: amount, minOutputAmount: 2_500_000_000n }, console.log)
`

const methods = Object.keys(createAggregatorClient({ baseUrl: 'http://localhost' }))

/** A library of an integrator, whose own types are written by the compiler: they have what each function returns, and parts of it. */
const LIBRARY = `
import { type AggregatorClient, type Chain, prepareRefund, type Price, readSettlement, readToken, watchQuotes } from '@quote-aggregator/client'

declare const client: AggregatorClient
${methods.map((name) => `export const ${name} = (...args: Parameters<AggregatorClient['${name}']>) => client.${name}(...args)`).join('\n')}
${['prepareRefund', 'readSettlement', 'readToken', 'watchQuotes'].map((name) => `export const ${name}Now = (...args: Parameters<typeof ${name}>) => ${name}(...args)`).join('\n')}
export const first = async () => (await client.listChains())[0]
export const domainOf = ({ domain, missCosts }: Chain) => ({ domain, missCosts })
export const amountOf = ({ solver, ...price }: Price) => price
`

const projectMade = createProject(['swap.ts', 'register-solver.ts'])
// Awaited below; a chain that does not start must not make a second, unheard failure of it.
projectMade.catch(() => {})
// As on other chains, blocks come by themselves: viem may find a receipt only with the block behind it.
const chain = await shared(startChain({ bonded: 1, extraArgs: ['--mixed-mining', '--block-time', '1'] }))
const calls = createCalls(chain.devnet, chain.contracts.settlement)
await calls.fund(chain.contracts.usdc, account, BigInt(OUTPUT))
await calls.mint(chain.contracts.weth, user.address, INPUT)
const service = await shared(startService(chain, { [`POLL_INTERVAL_MS_${chain.chainId}`]: '20' }))
const solver = await shared(startSolver(chain, account, honest({ output: OUTPUT })))
const project = await projectMade
await writeFile(join(project.folder, 'library.ts'), LIBRARY)
const pages = ['docs/client.md', 'packages/client/README.md', 'README.md'].flatMap((path) => codeBlocks(path))
const examples = pages.filter(({ language, marker }) => language === 'ts' && marker?.startsWith('example'))
for (const [index, { code }] of examples.entries())
  await writeFile(join(project.folder, `example-${index}.ts`), code)

afterAll(() => project.remove())

function keyOf(owner: DevAccount): Hex {
  return bytesToHex(owner.getHdKey().privateKey ?? new Uint8Array())
}

it('a folder of the package, as a clone has it after npm ci, is installed as README.md says', async () => {
  const clone = cloneSources()
  // As npm resolves it, a dependency on a folder is a link, which npm builds by the script `prepare`.
  const folder = mkdtempSync(join(tmpdir(), 'app-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  const options = ['--offline', '--legacy-peer-deps', '--no-audit', '--no-fund']
  await promisify(execFile)('npm', ['install', join(clone, 'packages/client'), ...options], { cwd: folder })
  const program = `import { verifyQuote } from '@quote-aggregator/client'; console.log(typeof verifyQuote)`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    cwd: folder,
  })
  expect(stdout).toBe('function\n')
  expect(readFileSync('packages/client/README.md', 'utf8')).toContain(
    '`npm install ../quote-aggregator/packages/client`',
  )
})

describe.concurrent('the package, installed in an empty project, type-checks', () => {
  it('as Node resolves modules, in examples and a library too, with the types of all libraries', async ({
    expect,
  }) => {
    expect(examples.length).toBeGreaterThan(5)
    expect(await project.compile('nodenext')).toBe('')
  })

  it('as bundlers resolve modules', async ({ expect }) => {
    expect(await project.compile('bundler')).toBe('')
  })
})

it('the installed package registers a solver, and lets a user ask, check, deposit and watch the order to its end', async () => {
  const { chainId, contracts } = chain
  await writeFile(join(project.folder, 'main.js'), PROGRAM)
  const aggregatorUrl = service.url
  const { endpointUrl } = solver
  const task = {
    solver: { aggregatorUrl, chainId, privateKey: keyOf(account), endpointUrl, name: 'Aldous' },
    options: {
      aggregatorUrl,
      rpcUrl: chain.devnet.rpcUrl,
      settlement: contracts.settlement,
      privateKey: keyOf(user),
    },
    terms: {
      chainId,
      inputToken: contracts.weth,
      outputToken: contracts.usdc,
      orderType: 'EXACT_INPUT',
      amount: String(INPUT),
    },
  }
  const program = startProcess(process.execPath, [join(project.folder, 'main.js'), JSON.stringify(task)], {})
  const [, orderId] = await program.waitFor(/quote (0x[0-9a-f]{64}) 2500000000\n/)
  await program.waitFor(/order DEPOSITED\n/)
  await calls.send(account, 'fill', [orderId as Hex])
  expect(await program.exited, program.output()).toBe(0)

  expect(program.output()).toContain(`listed Aldous ${account.address}\n`)
  expect(program.output()).toContain('aggregator.v1.QuoteService 3\n')
  expect(program.output()).toMatch(/order SETTLED\n$/)
  expect(await calls.balanceOf(contracts.usdc, user.address)).toBe(BigInt(OUTPUT))
})

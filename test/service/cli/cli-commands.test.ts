import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { between } from '../../support/between.js'
import { solverAccounts, startChain, type TestChain, user } from '../../support/chain/chain.js'
import { createCalls } from '../../support/chain/contract-calls.js'
import { eventually } from '../../support/eventually.js'
import { commandLine, startCommandLine } from '../../support/process/command-line.js'
import { startService, type TestService } from '../../support/service/service.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { contractStruct, honest, startSolver, type TestSolver } from '../../support/solvers/solver.js'

const UNLIMITED = 2n ** 256n - 1n
const [bestAccount, otherAccount, wavering, unbonded] = solverAccounts
const NO_ORDER = `0x${'12'.repeat(32)}`

let chain: TestChain
let calls: ReturnType<typeof createCalls>
let service: TestService
let solvers: TestSolver[]

beforeAll(async () => {
  chain = await startChain({ bonded: 3 })
  calls = createCalls(chain.devnet, chain.contracts.settlement)
  await calls.mint(chain.contracts.usdc, bestAccount.address, 10n ** 12n)
  await calls.approve(chain.contracts.usdc, bestAccount, UNLIMITED)
  await calls.mint(chain.contracts.weth, user.address, 10n ** 20n)
  await calls.approve(chain.contracts.weth, user, UNLIMITED)
  service = await startService(chain, { POLL_INTERVAL_MS_31337: '50', DESTINATION_CHAINS_31337: '10' })
  solvers = [
    await startSolver(chain, bestAccount, honest({ output: '3000', input: '1000' })),
    await startSolver(chain, otherAccount, honest({ output: '2994', input: '1100' })),
  ]
  await solvers[0]?.register(service, 'Best')
  await solvers[1]?.register(service, 'Other')
})
afterAll(async () => {
  await service?.close()
  await Promise.all((solvers ?? []).map((solver) => solver.close()))
  await chain?.stop()
})

const cli = (...argv: string[]) => commandLine(argv, { environment: { AGGREGATOR_URL: service.url } })
const startCli = (...argv: string[]) =>
  startCommandLine(argv, { environment: { AGGREGATOR_URL: service.url } })

/** The arguments of a quote that both solvers answer. */
function swap(...more: string[]): string[] {
  const { weth, usdc } = chain.contracts
  const pair = ['--sell', weth, '--buy', usdc, '--user', user.address]
  return ['quote', '--chain', '31337', ...pair, '--amount', '1000000', ...more]
}

/** Deposits an order for a quote that comes from the public port. */
async function deposit() {
  const { body } = await service.post('/v1/31337/quote', quoteRequest(chain))
  await calls.send(user, 'deposit', [contractStruct(body.quote), body.solverSignature])
  return body
}

describe('quote', () => {
  it('lists the offers, best first, with what to do next', async () => {
    const { code, stdout, stderr } = await cli(...swap())
    expect([code, stderr]).toEqual([0, ''])
    const lines = stdout.split('\n')
    expect(lines[0]).toMatch(/^# {2}solver +sells +buys +to best$/)
    expect(lines[1]).toMatch(new RegExp(`^1  ${bestAccount.address}  1000000  3000$`))
    expect(lines[2]).toMatch(new RegExp(`^2  ${otherAccount.address}  1000000  2994  -0.20 %$`))
    expect(stdout).toMatch(/order id +0x[0-9a-f]{64}\n/)
    expect(stdout).toContain(`1000000 of the smallest unit of ${chain.contracts.weth}\n`)
    expect(stdout).not.toContain('deposit to')
  })

  it('prints commands that work as they are', async () => {
    const { stdout } = await cli(...swap())
    const [, follow = ''] = /\nfollow +npx quote-aggregator (order .*)\n/.exec(stdout) ?? []
    const [, why = ''] = /\nwhy +npx quote-aggregator (quote .*)\n/.exec(stdout) ?? []
    for (const words of [follow, why]) expect(words).toContain(` --chain 31337 --url ${service.url}`)
    const explained = await commandLine(why.split(' '))
    expect([explained.code, explained.stdout]).toEqual([0, expect.stringMatching(/^quote id /)])
    const following = startCommandLine(follow.split(' '))
    await eventually(
      async () => following.written.stdout,
      (written) => written.endsWith('NONE\n'),
    )
    following.interrupt()
    await following.ended
  })

  it('prints one document with --json, with amounts as decimal strings', async () => {
    const before = Date.now() / 1000
    const { code, stdout, stderr } = await cli(...swap('--json', '--deposit-window', '60'))
    const after = Date.now() / 1000
    expect([code, stderr]).toEqual([0, ''])
    const { quoteId, best, alternatives } = JSON.parse(stdout)
    expect(quoteId).toMatch(/^[0-9a-f-]{36}$/)
    expect(best.quote).toMatchObject({ solver: bestAccount.address, inputAmount: '1000000' })
    expect(best.quote.depositDeadline - 60).toEqual(between(before - 1, after + 1))
    expect(alternatives).toHaveLength(1)
  })

  it('sends all its options', async () => {
    const more = ['--exact-output', '--to-chain', '10', '--mode', 'address', '--timeout', '5000']
    const { code, stdout } = await cli(...swap(...more))
    expect(code).toBe(0)
    expect(stdout).toMatch(/ 1000 +1000000\n.* 1100 +1000000 +\+10\.00 %\n/)
    expect(stdout).toMatch(/\ndeposit to +0x[0-9a-fA-F]{40}\n/)
    const asked = { orderType: 'EXACT_OUTPUT', destinationChainId: 10, depositMode: 'ADDRESS' }
    expect(solvers[0]?.asks.at(-1)).toMatchObject(asked)
  })

  it('shows with --why who was asked and each result', async () => {
    solvers[1]?.behave(async (_ask, _solver, { response }) => void response.writeHead(422).end())
    const { quoteId } = JSON.parse((await cli(...swap('--json'))).stdout)
    solvers[1]?.behave(honest({ output: '2994' }))
    const why = ['quote', '--chain', '31337', '--why', quoteId]
    const { code, stdout } = await eventually(
      () => cli(...why),
      (ended) => ended.code === 0,
    )
    expect(code).toBe(0)
    expect(stdout).toMatch(/^quote id +[0-9a-f-]{36}\noutcome +QUOTED after \d+ ms\n/)
    expect(stdout).toMatch(new RegExp(`^1  ${bestAccount.address}  QUOTED +\\d+  1000000  3000  \\S`, 'm'))
    expect(stdout).toMatch(new RegExp(`^   ${otherAccount.address}  DECLINED 422 +\\d+ +\\S`, 'm'))
    expect(JSON.parse((await cli(...why, '--json')).stdout)).toMatchObject({ quoteId, outcome: 'QUOTED' })
  })

  it("shows with --why and a solver's own id its result and nothing of the others", async () => {
    let askedUnder = ''
    solvers[1]?.behave((asked, own, exchange) => {
      askedUnder = String(exchange.request.headers['x-quote-id'])
      return honest({ output: '2994' })(asked, own, exchange)
    })
    await cli(...swap())
    solvers[1]?.behave(honest({ output: '2994' }))
    const why = ['quote', '--chain', '31337', '--why', askedUnder]
    const { code, stdout, stderr } = await cli(...why)
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(new RegExp(`^quote id +${askedUnder}\nkind +FIRM\nasked at `))
    expect(stdout).toMatch(/^best offer +shown after \d{4}-\d\d-\d\d .* UTC/m)
    expect(stdout).toMatch(new RegExp(`^2  ${otherAccount.address}  QUOTED +\\d+  1000000  2994  \\S`, 'm'))
    expect(stdout).not.toMatch(new RegExp(`${bestAccount.address}|outcome +QUOTED|undefined`))
    const json = JSON.parse((await cli(...why, '--json')).stdout)
    expect(json).toMatchObject({ quoteId: askedUnder, solvers: [{ rank: 2 }] })
    expect(json).not.toHaveProperty('bestAmount')
  })

  it('ends with 3 and names the record when no solver answers', async () => {
    for (const solver of solvers)
      solver.behave(async (_ask, _solver, { response }) => void response.writeHead(422).end())
    const { code, stdout, stderr } = await cli(...swap())
    solvers[0]?.behave(honest({ output: '3000' }))
    solvers[1]?.behave(honest({ output: '2994' }))
    expect([code, stdout]).toEqual([3, ''])
    expect(stderr).toMatch(/^error: .*\(NO_QUOTES\)\n/)
    expect(stderr).toMatch(
      /What each solver answered: npx quote-aggregator quote --why [0-9a-f-]{36} --chain 31337 --url \S+\n$/,
    )
  })

  it('ends with 4 for a chain that is not served', async () => {
    const { code, stderr } = await cli('solvers', '--chain', '5')
    expect([code, stderr]).toEqual([4, expect.stringContaining('(CHAIN_NOT_SUPPORTED)')])
  })

  it('ends with 4 for an unknown record, and with 2 and the field for an invalid id', async () => {
    const unknown = await cli('quote', '--chain', '31337', '--why', '00000000-0000-4000-8000-000000000000')
    expect([unknown.code, unknown.stderr]).toEqual([4, expect.stringContaining('(QUOTE_NOT_FOUND)')])
    const wrong = await cli('quote', '--chain', '31337', '--why', 'x')
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringMatching(/\n {2}quoteId must be /)])
  })
})

describe('order', () => {
  it('shows NONE for an order that the contract does not know', async () => {
    const { code, stdout } = await cli('order', NO_ORDER, '--chain', '31337')
    expect([code, stdout]).toEqual([0, `order id  ${NO_ORDER}\nchain     31337\nstate     NONE\n`])
  })

  it('prints each state with --watch until the last one', async () => {
    const { body } = await service.post('/v1/31337/quote', quoteRequest(chain))
    const watching = startCli('order', body.orderId, '--chain', '31337', '--watch', '--final-after', '0')
    const prints = (state: string) =>
      eventually(
        async () => watching.written.stdout,
        (text) => text.includes(state),
      )
    await prints('NONE')
    await calls.send(user, 'deposit', [contractStruct(body.quote), body.solverSignature])
    await prints('DEPOSITED')
    await calls.send(bestAccount, 'fill', [body.orderId])
    const { code, stdout } = await watching.ended
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(
        /^\S+ \S+ UTC {2}NONE\n\S+ \S+ UTC {2}DEPOSITED {2}transaction 0x\w+\n\S+ \S+ UTC {2}SETTLED {2}transaction 0x\w+\n$/,
      ),
    ])

    const { stdout: settled } = await cli('order', body.orderId, '--chain', '31337')
    expect(settled).toContain('state      SETTLED\n')
    expect(settled).toContain(`buys       3000 of ${chain.contracts.usdc} on chain 31337\n`)
    const step = /\d{4}-\S+ \S+ UTC, block \d+, transaction 0x[0-9a-f]{64}\n/.source
    expect(settled).toMatch(new RegExp(`\ndeposited  ${step}settled    ${step}$`))
    const json = await cli('order', body.orderId, '--chain', '31337', '--json')
    expect(JSON.parse(json.stdout)).toMatchObject({ state: 'SETTLED', outputAmount: '3000' })
  })

  it('ends with 130 when --watch is interrupted before the last state', async () => {
    const watching = startCli('order', NO_ORDER, '--chain', '31337', '--watch', '--json')
    await eventually(
      async () => watching.written.stdout,
      (text) => text !== '',
    )
    watching.interrupt()
    const { code, stdout, stderr } = await watching.ended
    const none = { state: 'NONE', chainId: 31337, orderId: NO_ORDER }
    expect([code, JSON.parse(stdout), stderr]).toEqual([130, none, ''])
  })
})

describe('watch', () => {
  it('prints each event as it comes, and at its end the cursor to continue from', async () => {
    const all = startCli('watch', '--json')
    const settled = startCli('watch', '--type', 'settled', '--chain', '31337', '--user', user.address)
    const others = startCli('watch', '--solver', otherAccount.address, '--order', NO_ORDER)
    for (const { written } of [all, settled, others])
      await eventually(
        async () => written.stderr,
        (text) => text.includes('Connected: chains 31337.'),
      )
    const { orderId } = await deposit()
    await calls.send(bestAccount, 'fill', [orderId])
    await eventually(
      async () => [all.written.stdout, settled.written.stdout].join(),
      (text) => text.split('Settled').length === 3,
    )
    for (const { interrupt } of [all, settled, others]) interrupt()

    const ended = await all.ended
    const events = ended.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect([ended.code, events]).toMatchObject([
      0,
      [
        { type: 'Deposited', orderId, outputAmount: '3000', user: user.address },
        { type: 'Settled', orderId },
      ],
    ])
    expect(ended.stderr).toContain(`continue with --after ${events[1].cursor}\n`)
    const parties = `user ${user.address}  solver ${bestAccount.address}`
    const line = new RegExp(
      `^Settled    chain 31337  block \\d+  order ${orderId}  ${parties}  transaction 0x[0-9a-f]{64}\n$`,
    )
    expect((await settled.ended).stdout).toMatch(line)
    const { stdout, stderr } = await others.ended
    expect([stdout, stderr]).toEqual(['', expect.stringMatching(/--after \S+\n$/)])

    const after = startCli('watch', '--after', events[0].cursor)
    await eventually(
      async () => after.written.stdout,
      (text) => text.includes(orderId),
    )
    after.interrupt()
    expect((await after.ended).stdout).toMatch(line)
  })

  it('ends with 2 for an invalid cursor', async () => {
    const { code, stderr } = await cli('watch', '--after', 'nonsense')
    expect([code, stderr]).toEqual([2, expect.stringContaining('(CURSOR_UNKNOWN)')])
  })
})

describe('register and unregister', () => {
  const keyOf = ({ getHdKey }: typeof wavering) => Buffer.from(getHdKey().privateKey ?? []).toString('hex')
  const withKey = (account: typeof wavering, argv: string[]) =>
    commandLine(argv, {
      environment: { AGGREGATOR_URL: service.url, SOLVER_PRIVATE_KEY: keyOf(account) },
    })
  const register = ['register', '--chain', '31337', '--endpoint', 'http://127.0.0.1:9']

  it('add a solver to the list and remove it', async () => {
    const registered = await withKey(wavering, [...register, '--name', 'Wave'])
    expect(registered).toEqual({
      code: 0,
      stdout: `${wavering.address} is registered on chain 31337.\nOne request to the endpoint: FAILED. Nothing listens at the solver's endpoint.\n`,
      stderr: '',
    })
    const { stdout } = await cli('solvers', '--chain', '31337')
    expect(stdout).toMatch(/^solver +name +registered\n/)
    expect(stdout).toMatch(new RegExp(`^${wavering.address}  Wave   \\d{4}-\\S+ \\S+ UTC$`, 'm'))

    const removed = await withKey(wavering, ['unregister', '--chain', '31337', '--json'])
    expect([removed.code, JSON.parse(removed.stdout)]).toEqual([
      0,
      { status: 'removed', address: wavering.address },
    ])
    const list = JSON.parse((await cli('solvers', '--chain', '31337', '--json')).stdout)
    expect(list.map(({ name }: { name: string }) => name)).toEqual(['Best', 'Other'])
  })

  it('end with 4 and say what to do when they are rejected', async () => {
    const poor = await withKey(unbonded, [...register, '--name', 'Poor'])
    expect([poor.code, poor.stdout]).toEqual([4, ''])
    expect(poor.stderr).toMatch(/\(BOND_INSUFFICIENT\)\nAdd to the bond/)
    const gone = await withKey(unbonded, ['unregister', '--chain', '31337'])
    expect([gone.code, gone.stderr]).toEqual([4, expect.stringContaining('(SOLVER_NOT_FOUND)')])
    const other = await withKey(wavering, [...register, '--name', 'W', '--protocol-name', 'Acme'])
    expect(other.stderr).toMatch(/\(SIGNATURE_INVALID\)\n.*--protocol-name/)
    const nameless = await withKey(wavering, [...register, '--name', ''])
    expect([nameless.code, nameless.stderr]).toEqual([2, expect.stringMatching(/\n {2}name must /)])
  })
})

it('every command reports that there is no aggregator at the URL', async () => {
  const { code, stderr } = await cli('solvers', '--chain', '1', '--url', chain.devnet.rpcUrl)
  expect([code, stderr]).toEqual([3, expect.stringContaining('--url')])
})

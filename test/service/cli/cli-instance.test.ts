import { describe, expect, it } from 'vitest'
import { solverAccounts, user } from '../../support/chain/chain.js'
import { createCalls } from '../../support/chain/contract-calls.js'
import { commandLine, startCommandLine } from '../../support/process/command-line.js'
import { startScene } from '../../support/service/scene.js'
import { contractStruct, honest } from '../../support/solvers/solver.js'

const [bestAccount, otherAccount, wavering, unbonded] = solverAccounts

// A mark that a busy machine gives late is one.
const environment = { VERIFY_TIMEOUT_MS: '60000' }
const scene = await startScene({ solvers: ['Best', 'Other'], bonded: 3, environment })
const { chain, service, ask } = scene
const calls = createCalls(chain.devnet, chain.contracts.settlement)
await calls.fund(chain.contracts.usdc, bestAccount, 10n ** 12n)
await calls.fund(chain.contracts.weth, user, 10n ** 20n)
scene.solvers[0].behave(honest({ output: '3000' }))
scene.solvers[1].behave(honest({ output: '2994' }))

const cli = (...argv: string[]) => commandLine(argv, { environment: { AGGREGATOR_URL: service.url } })
const startCli = (...argv: string[]) =>
  startCommandLine(argv, { environment: { AGGREGATOR_URL: service.url } })

/** The arguments of a quote that both solvers answer. */
function swap(...more: string[]): string[] {
  const { weth, usdc } = chain.contracts
  const pair = ['--sell', weth, '--buy', usdc, '--user', user.address]
  return ['quote', '--chain', '31337', ...pair, '--amount', '1000000', ...more]
}

describe('quote', () => {
  it('lists the offers, best first and marked, with commands to go on that work as they are', async () => {
    const { code, stdout, stderr } = await cli(...swap('--verify', 'best'))
    expect([code, stderr]).toEqual([0, ''])
    const lines = stdout.split('\n')
    expect(lines[0]).toMatch(/^# {2}solver +sells +buys +to best +verified$/)
    expect(lines[1]).toMatch(new RegExp(`^1  ${bestAccount.address}  1000000  3000 +yes$`))
    expect(lines[2]).toMatch(new RegExp(`^2  ${otherAccount.address}  1000000  2994  -0.20 %$`))
    const [, follow = ''] = /\nfollow +npx quote-aggregator (order .*)\n/.exec(stdout) ?? []
    const [, why = ''] = /\nwhy +npx quote-aggregator (quote .*)\n/.exec(stdout) ?? []
    for (const words of [follow, why]) expect(words).toContain(` --chain 31337 --url ${service.url}`)
    const explained = (await commandLine(why.split(' '))).stdout
    expect(explained).toMatch(/^quote id +[0-9a-f-]{36}\noutcome +QUOTED after \d+ ms\n/)
    expect(explained).toMatch(/ QUOTED verified .* 3000 .*\n.* QUOTED {2}.* 2994 /)
    const following = startCommandLine(follow.split(' '))
    await expect.poll(() => following.written.stdout).toMatch(/NONE\n$/)
    following.interrupt()
    expect((await following.ended).code).toBe(130)
  })
})

it('check-offer says of an offer that it is good, and of a forged one that it is dead', async () => {
  const check = (stdin: string, ...more: string[]) => {
    const argv = ['check-offer', '-', '--chain', '31337', '--url', service.url, ...more]
    return commandLine(argv, { stdin })
  }
  const { stdout: quoted } = await cli(...swap('--json'))
  const { best, alternatives } = JSON.parse(quoted)
  const good = await check(quoted, '--json')
  expect([good.code, good.stderr]).toEqual([0, ''])
  expect(JSON.parse(good.stdout)).toMatchObject({ state: 'VALID', orderId: best.orderId })
  const { body } = await ask()
  expect((await check(JSON.stringify(body))).stdout).toMatch(/\nstate +VALID\n/)

  const { quote, signature } = alternatives[0]
  const forged = JSON.stringify({ quote: { ...quote, outputAmount: '9000' }, signature })
  const dead = await check(forged)
  expect([dead.code, dead.stderr]).toEqual([4, 'error: The offer is DEAD.\n'])
  expect(dead.stdout).toMatch(/^order id +0x[0-9a-f]{64}\nstate +DEAD: SIGNATURE_INVALID\n/)
  const noOffer = 'error: The file must have an offer as JSON, as quote --json prints it.\n'
  for (const text of ['', 'null', '{}', '[]', 'quote'])
    expect(await check(text)).toEqual({ code: 2, stdout: '', stderr: noOffer })
  const wrong = await check(JSON.stringify({ quote: { solver: 'me' }, signature: '0x12' }))
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('quote.solver must be')])
})

it('order --watch prints each state until the last one, and watch each event, from any cursor', async () => {
  const all = startCli('watch', '--json')
  await expect.poll(() => all.written.stderr).toContain('Connected: chains 31337.')
  const { body } = await ask()
  const order = ['order', body.orderId, '--chain', '31337']
  const watching = startCli(...order, '--watch', '--final-after', '0')
  await expect.poll(() => watching.written.stdout).toContain('NONE')
  await calls.send(user, 'deposit', [contractStruct(body.quote), body.solverSignature])
  await expect.poll(() => watching.written.stdout).toContain('DEPOSITED')
  await calls.send(bestAccount, 'fill', [body.orderId])
  const { code, stdout } = await watching.ended
  const step = (state: string) => `\\S+ \\S+ UTC {2}${state} {2}transaction 0x\\w+\\n`
  expect(code).toBe(0)
  expect(stdout).toMatch(new RegExp(`^\\S+ \\S+ UTC {2}NONE\\n${step('DEPOSITED')}${step('SETTLED')}$`))
  const at = /\d{4}-\S+ \S+ UTC, block \d+, transaction 0x[0-9a-f]{64}\n/.source
  expect((await cli(...order)).stdout).toMatch(new RegExp(`\ndeposited  ${at}settled    ${at}$`))

  await expect.poll(() => all.written.stdout).toContain('Settled')
  all.interrupt()
  const lines = (await all.ended).stdout.trimEnd().split('\n')
  const events = lines.map((line) => JSON.parse(line))
  const { orderId } = body
  expect(events).toMatchObject([
    { type: 'Deposited', orderId, outputAmount: '3000', user: user.address },
    { type: 'Settled', orderId },
  ])
  const after = startCli('watch', '--after', events[0].cursor)
  const parties = `user ${user.address}  solver ${bestAccount.address}`
  await expect
    .poll(() => after.written.stdout)
    .toMatch(new RegExp(`^Settled    chain 31337  block \\d+  order ${orderId}  ${parties}  transaction 0x`))
  after.interrupt()
  await after.ended
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
    expect(stdout).toMatch(new RegExp(`^${wavering.address}  Wave   \\d{4}-\\S+ \\S+ UTC$`, 'm'))
    const removed = await withKey(wavering, ['unregister', '--chain', '31337', '--json'])
    expect(JSON.parse(removed.stdout)).toEqual({ status: 'removed', address: wavering.address })
    const list = JSON.parse((await cli('solvers', '--chain', '31337', '--json')).stdout)
    expect(list.map(({ name }: { name: string }) => name)).toEqual(['Best', 'Other'])
  })

  it('end with 4 and say what to do when they are rejected', async () => {
    const poor = await withKey(unbonded, [...register, '--name', 'Poor'])
    expect([poor.code, poor.stdout]).toEqual([4, ''])
    expect(poor.stderr).toMatch(/\(BOND_INSUFFICIENT\)\nAdd to the bond/)
    const other = await withKey(wavering, [...register, '--name', 'W', '--protocol-name', 'Acme'])
    expect(other.stderr).toMatch(/\(SIGNATURE_INVALID\)\n.*--protocol-name/)
  })
})

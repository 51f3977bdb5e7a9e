import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { solverAccounts, startChain, type TestChain, user } from '../../support/chain/chain.js'
import { deferred } from '../../support/deferred.js'
import { commandLine, startCommandLine } from '../../support/process/command-line.js'
import { startService, type TestService } from '../../support/service/service.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { type Behaviour, honest, startSolver, type TestSolver } from '../../support/solvers/solver.js'

let chain: TestChain
let service: TestService
let solvers: TestSolver[]

beforeAll(async () => {
  chain = await startChain({ bonded: 2 })
  // A mark that a busy machine gives late is one.
  service = await startService(chain, { VERIFY_TIMEOUT_MS: '60000' })
  solvers = await Promise.all(solverAccounts.slice(0, 2).map((account) => startSolver(chain, account)))
  for (const solver of solvers) await solver.register(service)
})

afterAll(async () => {
  await service?.close()
  await Promise.all((solvers ?? []).map((solver) => solver.close()))
  await chain?.stop()
})

function behave(...behaviours: Behaviour[]): void {
  behaviours.forEach((behaviour, index) => {
    solvers[index]?.behave(behaviour)
  })
}

/** The arguments of a quote. */
function swap(...more: string[]): string[] {
  const { weth, usdc } = chain.contracts
  const pair = ['--sell', weth, '--buy', usdc, '--user', user.address]
  return ['quote', '--chain', '31337', ...pair, '--amount', '1000000', '--url', service.url, ...more]
}

describe('quote --watch', () => {
  it('prints each better offer as it comes, and ends with its round', async () => {
    const late = deferred()
    behave(honest({ output: '2000' }), async (...ask) => {
      await late.opened
      return honest({ output: '3000' })(...ask)
    })
    const watching = startCommandLine(swap('--watch'))
    await expect.poll(() => watching.written.stdout).toMatch(/ buys 2000 .*\n$/)
    late.open()
    const { code, stdout, stderr } = await watching.ended
    expect([code, stderr]).toEqual([0, ''])
    const results = stdout
      .split('\n')
      .map((line) => line.replace(/.*(round 1[^:]*): ([^ ]+ \w+).* (buys \d+) .*/, '$1, $2, $3'))
    expect(results).toEqual([
      'round 1, 1 of, buys 2000',
      'round 1, 2 of, buys 3000',
      'round 1 done, 2 asked, buys 3000',
      '',
    ])
  })

  it('prints with --json what an instance says of each round', async () => {
    behave(honest({ output: '2000' }), honest({ output: '3000' }))
    const { code, stdout } = await commandLine(swap('--watch', '--json'))
    expect(code).toBe(0)
    const messages = stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
    expect(messages.at(-1)).toMatchObject({
      ...{ type: 'done', round: 1, quoted: 2 },
      best: { quote: { outputAmount: '3000' } },
      alternatives: [{ quote: { outputAmount: '2000' } }],
    })
    expect(messages.at(-2)).toMatchObject({ type: 'quote', offer: messages.at(-1).best })
  })

  it('leaves its solvers at Ctrl-C', async () => {
    const [asked, left] = [deferred(), deferred()]
    behave(honest({ output: '2000' }), async (_ask, _solver, { response }) => {
      response.once('close', left.open)
      asked.open()
      return undefined
    })
    const watching = startCommandLine(swap('--refresh', '60'))
    await expect.poll(() => watching.written.stdout).toContain('round 1: 1 of 2 answered')
    await asked.opened
    watching.interrupt()
    expect((await watching.ended).code).toBe(130)
    await left.opened
    expect(watching.written.stdout).not.toContain('done')
  })

  it('ends with 3 and names the record when no solver has an offer', async () => {
    const decline: Behaviour = async (_ask, _solver, { response }) => void response.writeHead(422).end()
    behave(decline, decline)
    const { code, stderr } = await commandLine(swap('--watch'))
    expect(code).toBe(3)
    expect(stderr).toMatch(
      /\(NO_QUOTES\)\n(.*\n)*What each solver answered: npx quote-aggregator quote --why \S+/,
    )
  })
})

it('quote with a soft deadline does not wait for more offers than it needs', async () => {
  behave(honest({ output: '2000' }), async () => undefined)
  const { code, stdout } = await commandLine(swap('--soft-deadline', '1', '--min-quotes', '1', '--json'))
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ best: { quote: { outputAmount: '2000' } }, alternatives: [] })
})

it('quote --verify marks the offers that the settlement contract accepts, as does the record', async () => {
  behave(honest({ output: '2000' }), honest({ output: '3000' }))
  const { stdout: table } = await commandLine(swap('--verify', 'best'))
  const [titles, best, other] = table.split('\n')
  expect(titles).toMatch(/ verified$/)
  expect(best).toMatch(/ 3000 .* yes$/)
  expect(other).toMatch(/ 2000 /)
  expect(other).not.toContain('yes')
  const { stdout: lines } = await commandLine(swap('--verify', 'best', '--watch'))
  expect(lines).toMatch(/ buys 3000 .* verified\n$/)

  const { stdout: json } = await commandLine(swap('--verify', 'best', '--json'))
  const { quoteId, best: verified, alternatives } = JSON.parse(json)
  expect([verified, ...alternatives].map((offer) => offer.verified)).toEqual([true, undefined])
  const why = ['quote', '--chain', '31337', '--url', service.url, '--why', quoteId]
  expect((await commandLine(why)).stdout).toMatch(/ QUOTED verified .* 3000 .*\n.* QUOTED {2}.* 2000 /)
  const { solvers: results } = JSON.parse((await commandLine([...why, '--json'])).stdout)
  expect(results.map((result: object) => 'verified' in result)).toEqual([true, false])
})

it('quote without marks has no column for them', async () => {
  behave(honest({ output: '2000' }), honest({ output: '3000' }))
  expect((await commandLine(swap())).stdout).not.toContain('verified')
})

describe('check-offer', () => {
  const check = (stdin: string, ...more: string[]) =>
    commandLine(['check-offer', '-', '--chain', '31337', '--url', service.url, ...more], { stdin })

  it('says of the best offer of a quote that it is good, and of a forged one that it is dead', async () => {
    behave(honest({ output: '2000' }), honest({ output: '3000' }))
    const { stdout: quoted } = await commandLine(swap('--json'))
    const answer = JSON.parse(quoted)
    const good = await check(quoted, '--json')
    expect([good.code, good.stderr]).toEqual([0, ''])
    expect(JSON.parse(good.stdout)).toMatchObject({ state: 'VALID', orderId: answer.best.orderId })

    const { quote, signature } = answer.alternatives[0]
    const forged = JSON.stringify({ quote: { ...quote, outputAmount: '9000' }, signature })
    const dead = await check(forged)
    expect([dead.code, dead.stderr]).toEqual([4, 'error: The offer is DEAD.\n'])
    expect(dead.stdout).toMatch(/^order id +0x[0-9a-f]{64}\nstate +DEAD: SIGNATURE_INVALID\n/)
  })

  it('takes an offer as REST has it, from a file', async () => {
    behave(honest({ output: '2000' }), honest({ output: '3000' }))
    const { body } = await service.post('/v1/31337/quote', quoteRequest(chain))
    const folder = await mkdtemp(join(tmpdir(), 'offer-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const file = join(folder, 'offer.json')
    await writeFile(file, JSON.stringify(body))
    const checked = await commandLine(['check-offer', file, '--chain', '31337', '--url', service.url])
    expect(checked).toMatchObject({ code: 0, stdout: expect.stringMatching(/\nstate +VALID\n/) })
    const { code, stderr } = await commandLine(['check-offer', join(folder, 'none'), '--chain', '31337'])
    expect([code, stderr]).toEqual([2, expect.stringMatching(/none cannot be read \(ENOENT\)\.\n$/)])
  })

  it('names what is no offer, and the fields that are wrong', async () => {
    const noOffer = 'error: The file must have an offer as JSON, as quote --json prints it.\n'
    for (const text of ['', 'null', '{}', '[]', 'quote'])
      expect(await check(text)).toEqual({ code: 2, stdout: '', stderr: noOffer })
    const { code, stderr } = await check(JSON.stringify({ quote: { solver: 'me' }, signature: '0x12' }))
    expect(code).toBe(2)
    expect(stderr).toContain('quote.solver must be')
  })
})

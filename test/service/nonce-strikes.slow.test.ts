import { setTimeout as pause } from 'node:timers/promises'
import { pino } from 'pino'
import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { settlementAbi } from '../../gen/contracts/settlement.js'
import { solverAccounts, startChain, type TestChain, user } from '../support/chain/chain.js'
import { createCalls } from '../support/chain/contract-calls.js'
import { eventually } from '../support/eventually.js'
import { startService, type TestService } from '../support/service/service.js'
import { quoteRequest } from '../support/solvers/quote-request.js'
import { contractStruct, honest, startSolver, type TestSolver } from '../support/solvers/solver.js'

const [honestAccount, repeatingAccount] = solverAccounts
/** With 1000 solvers on a chain, this many nonces of each solver are remembered. */
const REMEMBERED = 50
const CYCLE = REMEMBERED + 10
const UNLIMITED = 2n ** 256n - 1n
/** One nonce in 5 s is checked: more deposits would find nothing sooner. */
const BETWEEN_DEPOSITS_MS = 200

let chain: TestChain
let calls: ReturnType<typeof createCalls>
let solver: TestSolver
let service: TestService
/** The service's log lines about nonces. */
let logged: { msg: string; solver: string }[]

beforeAll(async () => {
  chain = await startChain({ bonded: 2 })
  calls = createCalls(chain.devnet, chain.contracts.settlement)
  await calls.mint(chain.contracts.weth, user.address, 10n ** 24n)
  await calls.approve(chain.contracts.weth, user, UNLIMITED)
  solver = await startSolver(chain, honestAccount, honest({ output: '1000' }))
  logged = []
  const write = (line: string) => {
    const entry = JSON.parse(line)
    if (entry.msg.includes('nonce')) logged.push(entry)
  }
  service = await startService(
    chain,
    { MAX_SOLVERS_PER_CHAIN: '1000', [`POLL_INTERVAL_MS_${chain.chainId}`]: '50' },
    { log: pino({ level: 'info' }, { write }) },
  )
  await solver.register(service)
})
afterAll(async () => {
  await service?.close()
  await solver?.close()
  await chain?.stop()
})

const quote = async () => (await service.post(`/v1/${chain.chainId}/quote`, quoteRequest(chain))).body
const isHonest = ({ quote }: { quote?: { solver: string } }) => quote?.solver === honestAccount.address
const messages = (account: { address: string }) =>
  logged.filter(({ solver }) => solver === account.address.toLowerCase()).map(({ msg }) => msg)

it('a solver whose nonces are used by deposits right after its quotes is never blocked', async () => {
  const checked = 'a solver has sent a nonce that is used'
  while (messages(honestAccount).length < 3) {
    const body = await quote()
    expect(isHonest(body)).toBe(true)
    await calls.send(user, 'deposit', [contractStruct(body.quote), body.solverSignature])
    await pause(BETWEEN_DEPOSITS_MS)
  }
  expect(new Set(messages(honestAccount))).toEqual(new Set([checked]))
  expect(isHonest(await quote())).toBe(true)
})

it('a solver that cycles more cancelled nonces than are remembered soon wins no quotes', async () => {
  for (let nonce = 1n; nonce <= CYCLE; nonce++) {
    const data = encodeFunctionData({ abi: settlementAbi, functionName: 'cancelNonce', args: [nonce] })
    const transaction = { from: repeatingAccount.address, to: chain.contracts.settlement, data }
    await calls.client.request({ method: 'eth_sendTransaction', params: [transaction] })
  }
  await eventually(
    () => calls.view.isNonceUsed([repeatingAccount.address, BigInt(CYCLE)]),
    (isUsed) => isUsed,
  )
  let sent = 0
  const repeating = await startSolver(chain, repeatingAccount, async (ask, { quoteFor, sign }) =>
    sign({ ...quoteFor(ask), outputAmount: '999999', nonce: String((sent++ % CYCLE) + 1) }),
  )
  await repeating.register(service)
  expect(isHonest(await quote())).toBe(false)

  const blocked = 'a solver repeats used nonces: all its offers are dropped'
  await eventually(quote, () => messages(repeatingAccount).includes(blocked))
  await repeating.register(service)
  for (let round = 0; round < 2 * CYCLE; round++) expect(isHonest(await quote())).toBe(true)
  const drops = await service.metric('aggregator_solver_replies_total', { reason: 'nonce_used' })
  expect(drops).toBeGreaterThan(2)
  await repeating.close()
})

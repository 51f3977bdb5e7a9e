import { readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { solverAccounts } from '../../support/chain/chain.js'
import { startModelChain } from '../../support/model-chain/start-model-chain.js'
import { startService, type TestService } from '../../support/service/service.js'
import { shared } from '../../support/shared.js'
import { quoteRequest } from '../../support/solvers/quote-request.js'
import { type Behaviour, honest, startSolver } from '../../support/solvers/solver.js'

// biome-ignore lint/suspicious/noExplicitAny: lines of many shapes
const lines: any[] = []
let folder: string

const chain = await shared(startModelChain({ bonded: 3 }))
const path = `/v1/${chain.chainId}/quote`
const solvers = await Promise.all(
  solverAccounts.slice(0, 3).map((account) => shared(startSolver(chain, account))),
)

beforeEach(async () => {
  lines.length = 0
  folder = await mkdtemp(join(tmpdir(), 'quote-record-bounds-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  behave(honest())
})

async function start(environment: Record<string, string> = {}) {
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) })
  const variables = { DB_PATH: join(folder, 'service.db'), QUOTE_TIMEOUT_MS: '10000', ...environment }
  const service = await startService(chain, variables, { log })
  let closed: Promise<void> | undefined
  const close = () => {
    closed ??= service.close()
    return closed
  }
  onTestFinished(close)
  for (const solver of solvers) await solver.register(service)
  return { ...service, close }
}

function behave(behaviour: Behaviour): void {
  for (const solver of solvers) solver.behave(behaviour)
}

type Service = Pick<TestService, 'post' | 'get' | 'metric'>

const errors = () => lines.filter(({ level }) => level >= 50)

async function ask(service: Service, count: number): Promise<string[]> {
  const answers = await Promise.all(
    Array.from({ length: count }, () => service.post(path, quoteRequest(chain))),
  )
  return answers.map(({ body }) => body.quoteId)
}

it('the service writes no record and answers QUOTE_NOT_FOUND with QUOTE_RECORD_HOURS=0', async () => {
  const service = await start({ QUOTE_RECORD_HOURS: '0' })
  let askedUnder = ''
  behave((asked, own, exchange) => {
    askedUnder = String(exchange.request.headers['x-quote-id'])
    return honest()(asked, own, exchange)
  })
  const [quoteId] = await ask(service, 1)
  for (const id of [quoteId, askedUnder]) {
    const { status, body } = await service.get(`${path}/${id}`)
    expect([status, body.code, body.error]).toEqual([
      404,
      'QUOTE_NOT_FOUND',
      'This instance keeps no records of quotes (QUOTE_RECORD_HOURS is 0).',
    ])
  }
  await service.close()
  expect(readdirSync(folder).filter((name) => name.includes('quotes'))).toEqual([])
  expect(errors()).toEqual([])
})

it('a record has no amount that is not decimal digits', async () => {
  const service = await start()
  const odd = ['\u0001'.repeat(100), '0x10', '-1', '1e3', ' 1', '1.5', '٣', '9'.repeat(101)]
  behave(async (asked, { quoteFor, sign }) => {
    const { quote, signature } = await sign(quoteFor(asked))
    return { quote: { ...quote, inputAmount: odd[0] ?? '', outputAmount: odd[1] ?? '' }, signature }
  })
  while (odd.length > 0) {
    const [quoteId] = await ask(service, 1)
    const { solvers: answers } = (await service.get(`${path}/${quoteId}`)).body
    expect(answers).toHaveLength(3)
    for (const answer of answers) {
      expect(answer).toMatchObject({ outcome: 'INVALID', reason: 'fixed_amount_mismatch' })
      expect(answer).not.toHaveProperty('inputAmount')
      expect(answer).not.toHaveProperty('outputAmount')
    }
    odd.splice(0, 2)
  }
  await service.close()
})

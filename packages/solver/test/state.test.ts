import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { custom } from 'viem'
import { expect, it, onTestFinished } from 'vitest'
import { temporaryFile } from '../../../test/support/databases/temporary-file.js'
import { openSqliteFile } from '../../sqlite/src/sqlite.js'
import { createSolver } from '../src/create-solver.js'
import type { SolverQuote } from '../src/orders/order-terms.js'
import { toWireQuote } from '../src/session/wire-forms.js'
import { openState } from '../src/state.js'

const DEADLINE = 2_000_000_000
const HOUR = 3_600
const WEEK = 7 * 86_400

function signed(index: number): SolverQuote {
  return {
    chainId: 31337,
    orderId: `0x${String(index).padStart(64, '0')}`,
    depositAddress: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
    signature: '0x12',
    isForAddress: true,
    quote: {
      solver: '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
      user: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
      inputToken: '0x9fe46736679d2d9a65f0992f2272de9f3c7fa6e0',
      inputAmount: 2n ** 200n,
      outputToken: '0xcf7ed3acca5a467e9e704c703e8d87f634fb0fc9',
      outputAmount: 7n,
      orderType: 'EXACT_OUTPUT',
      outputChainId: 31337,
      depositDeadline: DEADLINE - 60,
      fillDeadline: DEADLINE,
      nonce: 2n ** 127n,
    },
  }
}

function open(path = ':memory:') {
  const state = openState(path)
  onTestFinished(() => state.close())
  return state
}

it('a state that is opened again has its quotes, orders, payments and positions', () => {
  const path = temporaryFile()
  const first = openState(path)
  const quote = signed(1)
  const attempts = [
    { hash: '0x02', raw: '0x03', nonce: 3 },
    { hash: '0x01', raw: '0x04', nonce: 3 },
  ] as const
  first.addQuote(quote)
  first.addOrder({ ...quote, fillDeadline: DEADLINE })
  for (const attempt of attempts) first.addAttempt(quote.orderId, quote.chainId, attempt)
  first.setPosition('chain 31337', '12')
  first.close()
  const state = open(path)
  expect(state.order(quote.orderId)?.signed).toEqual(quote)
  expect(state.openQuotes(quote.chainId)).toEqual([quote])
  const { chainId, orderId } = quote
  expect(state.orders(chainId, 'OPEN')).toEqual([
    { chainId, orderId, fillDeadline: DEADLINE, status: 'OPEN', endedAt: null, signed: quote },
  ])
  expect(state.attempts(orderId)).toEqual(attempts)
  expect([state.position('chain 31337'), state.position('session')]).toEqual(['12', undefined])
})

it('a quote is kept until its nonce is used, however long ago its deadline was', () => {
  const state = open()
  const [unused, used] = [signed(1), signed(2)]
  for (const quote of [unused, used]) state.addQuote(quote)
  state.endQuote(used.orderId, DEADLINE)
  state.prune(used.chainId, DEADLINE + WEEK)
  expect(state.openQuotes(used.chainId)).toEqual([unused])
  expect([state.order(used.orderId), state.openQuotes(1)]).toEqual([undefined, []])
})

it('a quote that has ended is found as such', () => {
  const state = open()
  const quote = signed(1)
  state.addQuote(quote)
  expect(state.endedQuotes(quote.chainId)).toEqual([])
  state.endQuote(quote.orderId, DEADLINE)
  expect(state.endedQuotes(quote.chainId)).toEqual([quote])
})

it('an order that is added again keeps its status', () => {
  const state = open()
  const { chainId, orderId } = signed(1)
  state.addOrder({ chainId, orderId, fillDeadline: DEADLINE })
  state.setStatus(orderId, 'FILLED')
  state.addOrder({ chainId, orderId, fillDeadline: DEADLINE })
  expect(state.order(orderId)?.status).toBe('FILLED')
})

it('of each payment the last attempt is found by its nonce, with the status of its order', () => {
  const state = open()
  const { chainId, orderId } = signed(1)
  state.addOrder({ chainId, orderId, fillDeadline: DEADLINE })
  const [one, two, approval] = [1, 2, 0].map((index) => ({
    hash: `0x0${9 - index}` as const,
    raw: '0x' as const,
    nonce: index === 0 ? 4 : 5,
  }))
  if (one === undefined || two === undefined || approval === undefined) throw new Error('no attempts')
  state.addAttempt(orderId, chainId, one)
  state.addAttempt(orderId, chainId, two)
  state.addAttempt('approval', chainId, approval)
  state.setStatus(orderId, 'FILLED')
  expect(state.keptPayments(chainId)).toMatchObject([
    { id: 'approval', ...approval, status: null },
    { id: orderId, ...two, status: 'FILLED' },
  ])
  expect(state.keptPayments(1)).toEqual([])
  state.renamePayment(orderId, 'other')
  expect([state.attempts(orderId), state.attempts('other')]).toEqual([[], [one, two]])
  state.clearAttempts('other')
  expect(state.keptPayments(chainId)).toMatchObject([{ id: 'approval' }])
})

it('a quote whose end was removed is kept again, and an order that has no quote and no deposit is not', () => {
  const state = open()
  const quote = signed(1)
  const { chainId, orderId } = quote
  state.addQuote(quote)
  state.addOrder({ chainId, orderId, fillDeadline: DEADLINE })
  state.endQuote(orderId, DEADLINE)
  state.endQuote(orderId, null)
  expect(state.openQuotes(chainId)).toEqual([quote])
  const other = signed(2)
  state.addOrder({ chainId, orderId: other.orderId, fillDeadline: DEADLINE })
  for (const each of [quote, other]) state.setStatus(each.orderId, 'QUOTED')
  state.prune(chainId, DEADLINE + WEEK)
  expect([state.order(orderId)?.status, state.order(other.orderId)]).toEqual(['QUOTED', undefined])
  state.addOrder({ chainId, orderId, fillDeadline: DEADLINE })
  expect(state.order(orderId)?.status).toBe('OPEN')
})

it('quotes are forgotten an hour after their end, and orders with their quotes after a week', () => {
  const state = open()
  const [unused, taken] = [signed(1), signed(2)]
  for (const quote of [unused, taken]) {
    state.addQuote(quote)
    state.endQuote(quote.orderId, DEADLINE)
  }
  const { chainId } = taken
  state.addOrder({ ...taken, fillDeadline: DEADLINE })
  state.prune(chainId, DEADLINE + HOUR)
  expect(state.order(unused.orderId)?.signed).toEqual(unused)
  state.prune(1, DEADLINE + 2 * WEEK)
  state.prune(chainId, DEADLINE + HOUR + 1)
  const left = [unused, taken].map(({ orderId }) => state.order(orderId)?.signed)
  expect(left).toEqual([undefined, taken])
  state.setStatus(taken.orderId, 'FILLED')
  state.prune(chainId, DEADLINE + WEEK + 1)
  expect(state.order(taken.orderId)).toBeUndefined()
})

/** As an earlier version has made it. */
const BEFORE = `
  CREATE TABLE quotes (orderId TEXT PRIMARY KEY, chainId INTEGER NOT NULL, depositAddress TEXT NOT NULL,
    fillDeadline INTEGER NOT NULL, quote TEXT NOT NULL, signature TEXT NOT NULL,
    endedAt INTEGER) STRICT, WITHOUT ROWID;
  CREATE TABLE orders (orderId TEXT PRIMARY KEY, chainId INTEGER NOT NULL, fillDeadline INTEGER NOT NULL,
    status TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE INDEX quotesByEnd ON quotes (chainId, endedAt);
  CREATE INDEX ordersByStatus ON orders (status);
  PRAGMA user_version = 6;`
/** And one that had books already. */
const WITH_BOOKS = `
  CREATE TABLE books (id TEXT PRIMARY KEY, chainId INTEGER NOT NULL, time INTEGER NOT NULL, kind TEXT NOT NULL,
    entry TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE INDEX booksByKind ON books (chainId, kind, time);
  PRAGMA user_version = 7`

it.each([
  ['', 'OPEN'],
  [WITH_BOOKS, 'FILLED'],
])(
  'a file of a version before is taken over: without books, what was paid lately is read again',
  (more, paid) => {
    const path = temporaryFile()
    const file = openSqliteFile(path)
    file.exec(BEFORE + more)
    const [open1, ended, exact, found] = [1, 2, 3, 4].map(signed)
    if (!open1 || !ended || !exact || !found) throw new Error('no quotes')
    const named = { ...open1, quoteId: 'one', isForAddress: false }
    const input = { ...exact, quote: { ...exact.quote, orderType: 'EXACT_INPUT' as const } }
    const addQuote = file.prepare('INSERT INTO quotes VALUES (?, ?, ?, ?, ?, ?, ?)')
    for (const { quote, quoteId, isForAddress, ...each } of [named, ended, input]) {
      const text = JSON.stringify({ ...toWireQuote(quote), quoteId, isForAddress })
      const endedAt = each.orderId === ended.orderId ? DEADLINE : null
      addQuote.run(each.orderId, each.chainId, each.depositAddress, DEADLINE, text, each.signature, endedAt)
    }
    const addOrder = file.prepare('INSERT INTO orders VALUES (?, ?, ?, ?)')
    addOrder.run(ended.orderId, ended.chainId, DEADLINE, 'FILLED')
    addOrder.run(found.orderId, found.chainId, DEADLINE, 'LEFT')
    file.close()
    const state = open(path)
    expect(state.openQuotes(31337)).toEqual([named, input])
    expect([ended, found].map(({ orderId }) => state.order(orderId))).toMatchObject([
      { status: paid, endedAt: DEADLINE, signed: ended },
      { status: 'OPEN', endedAt: null, signed: undefined, fillDeadline: DEADLINE },
    ])
    const entry = { id: 'one', chainId: 31337, time: DEADLINE, kind: 'FILLED', entry: '{}' } as const
    state.setBookEntry(entry)
    state.prune(31337, DEADLINE + 400 * 86_400)
    expect(state.bookEntry('one')).toEqual(entry)
    state.prune(31337, DEADLINE + 400 * 86_400 + 1)
    expect(state.bookEntry('one')).toBeUndefined()
  },
)

it('a state file that cannot be opened is named with the reason', () => {
  const path = temporaryFile()
  open(path)
  expect(() => openState(path)).toThrow(`stateFile ${path} cannot be opened: another process has it`)
  const nowhere = `${path}-none/state.db`
  expect(() => openState(nowhere)).toThrow(`stateFile ${nowhere} cannot be opened: ENOENT`)
  const earlier = temporaryFile()
  const file = openSqliteFile(earlier)
  file.pragma('user_version = 5')
  file.close()
  expect(() => openState(earlier)).toThrow('it is of version 5, and not 9')
})

it.each(['a new file', 'a file that others may read'])(
  "%s and its companions are its owner's only",
  (which) => {
    const path = temporaryFile()
    const before = process.umask(0)
    onTestFinished(() => void process.umask(before))
    if (which !== 'a new file') {
      openState(path).close()
      for (const suffix of ['', '-wal', '-journal'])
        writeFileSync(path + suffix, '', { flag: 'a', mode: 0o644 })
      for (const suffix of ['', '-wal', '-journal']) chmodSync(path + suffix, 0o644)
    }
    const state = open(path)
    state.addQuote(signed(1))
    const modes = readdirSync(dirname(path))
      .filter((name) => name.startsWith(basename(path)))
      .map(
        (name) =>
          `${name.slice(basename(path).length)} ${(statSync(join(dirname(path), name)).mode & 0o777).toString(8)}`,
      )
    expect(modes).toContain('-wal 600')
    expect(
      modes.every((mode) => mode.endsWith(' 600')),
      modes.join(),
    ).toBe(true)
  },
)

it('a start reports open quotes and orders of a chain that is not configured', async () => {
  const stateFile = temporaryFile()
  const before = openState(stateFile)
  for (const index of [1, 2, 3]) before.addQuote(signed(index))
  before.endQuote(signed(3).orderId, DEADLINE)
  before.close()
  const errors: string[] = []
  async function start(chainId: number): Promise<readonly string[]> {
    const request = async () => {
      throw new Error('the node is down')
    }
    const { user: settlement, inputToken } = signed(1).quote
    const chain = { rpc: custom({ request }, { retryCount: 0 }), settlement, tokens: [inputToken] }
    const solver = createSolver({
      account: `0x${'11'.repeat(32)}`,
      name: 'Dora',
      aggregatorUrl: 'http://127.0.0.1:1',
      chains: { [chainId]: chain },
      quote: () => ({ decline: 'PAUSED' }),
      stateFile,
      onError: (error) => errors.push(String(error)),
    })
    await expect(solver.start()).rejects.toThrow('the node is down')
    return errors.splice(0)
  }
  expect(await start(31337)).toEqual([])
  expect(await start(1)).toEqual([expect.stringContaining('2 open quotes and orders of chain 31337')])
})

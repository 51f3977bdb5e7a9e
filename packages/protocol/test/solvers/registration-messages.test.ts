import { expect, test } from 'vitest'
import { registrationMessage, unregistrationMessage } from '../../src/solvers/registration-messages.js'

const TEXT = {
  address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  endpointUrl: 'https://Solver.example.org/Api/',
  timestamp: 1_800_000_000_123,
} as const

test('the registration message is the four lines of the protocol', () => {
  expect(registrationMessage('Service', TEXT)).toBe(
    'Service Solver Registration\n' +
      'Address: 0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed\n' +
      'Endpoint: https://Solver.example.org/Api/\n' +
      'Timestamp: 1800000000123',
  )
})

test('the unregistration message is three lines', () => {
  expect(unregistrationMessage('Service', TEXT)).toBe(
    'Service Solver Unregistration\n' +
      'Address: 0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed\n' +
      'Timestamp: 1800000000123',
  )
})

test("the protocol's name begins both messages", () => {
  expect(registrationMessage('Acme', TEXT).split('\n')[0]).toBe('Acme Solver Registration')
  expect(unregistrationMessage('Acme', TEXT).split('\n')[0]).toBe('Acme Solver Unregistration')
})

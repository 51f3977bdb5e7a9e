import { expect, test } from 'vitest'
import { timesOf } from './database-server.js'

test('the CPU time of a process includes that of its ended children', () => {
  const name = '(postgres: a (b) c)'
  const beforeTimes = 'S 7 21 22 23 24 25 26 27 28 29'
  expect(timesOf(`4242 ${name} ${beforeTimes} 100 20 300 4 55 66 77`)).toEqual({
    parent: 7,
    cpuSeconds: 4.24,
  })
})

import { expect, it } from 'vitest'
import { readDemoArguments } from '../../src/devnet/demo-arguments.js'

it.each([
  [[], { once: false, replicas: undefined }],
  [['--once'], { once: true, replicas: undefined }],
  [['--replicas', '2'], { once: false, replicas: 2 }],
  [['--replicas=9', '--once'], { once: true, replicas: 9 }],
])('reads %j', (args, expected) => {
  expect(readDemoArguments(args)).toEqual(expected)
})

it.each(['0', '1', '10', '-3', '2.5', '02', '3 ', '', 'x'])('takes no "%s" replicas', (count) => {
  expect(() => readDemoArguments([`--replicas=${count}`])).toThrow(
    `--replicas is "${count}": it must be an integer of 2 to 9\nPlays a few swaps`,
  )
})

it.each([[['--replicas']], [['--twice']], [['3']]])('says how the demo is used for %j', (args) => {
  expect(() => readDemoArguments(args)).toThrow('npm run demo -- --replicas 3')
})

import { comments } from '../../gen/comments.js'
import { type Described, fullName } from './full-name.js'

const IN_BACKTICKS = /`[^`]+`/g
const SNAKE_CASE = /[a-z]+(?:_[a-z]+)+/g

/** The fields whose names in JSON differ from those in the protos. */
const fieldNames = new Set(
  Object.keys(comments)
    .map((name) => name.slice(name.lastIndexOf('.') + 1))
    .filter((name) => /^[a-z]+_[a-z_]+$/.test(name)),
)

/**
 * The comment of a descriptor for readers of JSON: fields have their JSON names, and each paragraph is one line.
 * @throws when there is none: every part of the contract needs a description
 */
export function descriptionOf(descriptor: Described): string {
  const comment = comments[fullName(descriptor)]
  if (comment === undefined) throw new Error(`${fullName(descriptor)} has no comment in the protos`)
  return comment.replace(IN_BACKTICKS, (code) => code.replace(SNAKE_CASE, toJsonName))
}

function toJsonName(name: string): string {
  return fieldNames.has(name) ? name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase()) : name
}

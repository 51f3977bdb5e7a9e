import { partsOf } from '../../../protocol/src/node/revert.js'

/** A user's no (EIP-1193, ethers). */
export const DECLINED: readonly string[] = ['4001', 'ACTION_REJECTED']
/**
 * What wallets say in their own words: the user as the one who has said no, a text that says nothing else, or a code as text. What a
 * node or a connection refuses has other words beside it, and an aborted request is no decision.
 */
const WORDS = [
  /\buser(?:'s request)?( has| was)? (reject|den(y|ied)|declin|cancel|refus|disapprov|dismiss|clos)/i,
  /(reject|denied|declin|cancel|refus)\w* (by|in|on) (the |your )?(user|owner|signer|wallet|device)(?=[.,;!?)"'\]}]| \(|$)/im,
  /^(\w+: )?(the )?((request|transaction|tx|signature|action|signing) )?((was|has been) )?(reject|denied|declin|cancel)\w{0,4}[.!]?$/i,
  /^4001(:|\W*$)|code["']?\W{1,3}4001(?=[,}\])"']|$)|0x6985|用户.{0,4}(取消|拒绝)/i,
]

/** Whether an error, or one inside of it, has one of these codes. */
export function hasCode(error: unknown, codes: readonly string[]): boolean {
  return partsOf(error).some(({ code }) =>
    codes.includes(typeof code === 'number' ? `${code}` : (code as string)),
  )
}

/** Whether the words of an error are a user's no. Some wallets throw a text alone. */
export function hasWordsOfNo(error: unknown): boolean {
  const texts = partsOf(error).flatMap((part) =>
    Object.values({ ...part, message: part.message, cause: part.cause }),
  )
  return [error, ...texts].some((text) => typeof text === 'string' && WORDS.some((words) => words.test(text)))
}

/** Whether the user has declined in the wallet, by the code or by the words of the error. */
export const isDeclined = (error: unknown) => hasCode(error, DECLINED) || hasWordsOfNo(error)

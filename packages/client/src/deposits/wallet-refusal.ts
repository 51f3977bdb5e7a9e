import { partsOf } from '../../../protocol/src/node/revert.js'

/** A user's no (EIP-1193, ethers). */
const DECLINED: readonly string[] = ['4001', 'ACTION_REJECTED']
/**
 * What wallets say in their own words: these name the user as the one who has said no. All others may be of a node or a
 * connection.
 */
const WORDS =
  /\buser(?:'s request)?( has| was)? (reject|den(y|ied)|declin|cancel|refus|disapprov)|(reject|denied|declin|cancel)\w* by (the |your )?user(?=[.,;!?)"'\]}]| \(|$)|用户.{0,4}(取消|拒绝)/im

/** Whether an error, or one inside of it, has one of these codes. */
export function hasCode(error: unknown, codes: readonly string[]): boolean {
  return partsOf(error).some(({ code }) =>
    codes.includes(typeof code === 'number' ? `${code}` : (code as string)),
  )
}

/** Whether the words of an error are a user's no. Some wallets throw a text alone. */
function hasWordsOfNo(error: unknown): boolean {
  const texts = partsOf(error).flatMap((part) =>
    Object.values({ ...part, message: part.message, cause: part.cause }),
  )
  return [error, ...texts].some((text) => typeof text === 'string' && WORDS.test(text))
}

/** Whether an error has the code of a user's no. */
export const hasCodeOfNo = (error: unknown) => hasCode(error, DECLINED)

/** Whether the user has declined in the wallet, by the code or by the words of the error. */
export const isDeclined = (error: unknown) => hasCodeOfNo(error) || hasWordsOfNo(error)

/** How long an account must have sent nothing before the words of its wallet are believed of a transfer. */
const QUIET_MS = 30_000

/**
 * How long an account must have sent nothing until an error of its wallet is a no. For a transfer, words count after a while
 * of that, and so do the codes of an account with code, whose words never count.
 * @returns undefined for an error that is none
 */
export function quietMsOf(error: unknown, isContract: boolean, isOfCode = false): number | undefined {
  if (!isDeclined(error)) return undefined
  if (isContract) return 0
  if (hasCodeOfNo(error)) return isOfCode ? QUIET_MS : 0
  return isOfCode ? undefined : QUIET_MS
}

import { IncomingMessage } from 'node:http'

/**
 * The class of an HTTP/1.1 server's requests (its option `IncomingMessage`) of which only the accepted ones become
 * upgrades. A server may ignore the others (RFC 9110, section 7.8), and reads them like any request. Newer versions of
 * Node have the option `shouldUpgradeCallback`; here the parser's use of `upgrade` takes its place. Checked with Node
 * 20.20.
 */
export function upgradeFilter(isAccepted: (request: IncomingMessage) => boolean): typeof IncomingMessage {
  return class extends IncomingMessage {
    declare private wantsUpgrade: boolean | null

    get upgrade(): boolean {
      return this.wantsUpgrade === true && (this.method === 'CONNECT' || isAccepted(this))
    }

    /** Set by Node's parser, in the constructor to begin with. */
    set upgrade(wantsUpgrade: boolean | null) {
      this.wantsUpgrade = wantsUpgrade
    }
  }
}

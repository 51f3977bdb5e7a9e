import { IncomingMessage } from 'node:http'

/**
 * Builds the class of an HTTP/1.1 server's requests (its option `IncomingMessage`) in which only accepted ones become
 * upgrades. A server may ignore the others (RFC 9110, section 7.8), and then reads them like any request. Newer versions
 * of Node have the option `shouldUpgradeCallback`. Here, the parser's use of `upgrade` replaces it. Checked with Node
 * 20.20.
 */
export function upgradeFilter(isAccepted: (request: IncomingMessage) => boolean): typeof IncomingMessage {
  return class extends IncomingMessage {
    declare private wantsUpgrade: boolean | null

    get upgrade(): boolean {
      return this.wantsUpgrade === true && (this.method === 'CONNECT' || isAccepted(this))
    }

    /** Node's parser sets this, first in the constructor. */
    set upgrade(wantsUpgrade: boolean | null) {
      this.wantsUpgrade = wantsUpgrade
    }
  }
}

/** A record that is there and that nobody here can open; what to do about it stands in the message. */
export class RecordClosed extends Error {
  constructor(place: string, why: string) {
    super(
      `${place} is sealed: ${why}. If the key is lost for good, move the file away: croft then reads CA and token back from a server that runs`,
    )
  }
}

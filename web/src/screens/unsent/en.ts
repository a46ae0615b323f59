import { plural } from "../../i18n/i18n.svelte";

export default {
  waiting: "Waiting to be sent",
  waitingOld: "Entered more than a day ago. Check that it is not booked yet.",
  waitingEarlier: "Entered before you signed in. Check that it is not booked yet.",
  waitingFiles: (names: string) => `Booked. Still to be attached: ${names}`,
  fileRejected: (name: string, reason: string) => `Booked, but ${name} was not attached: ${reason}`,
  unreadable: (n: number) => plural(n, { one: "# entry on this device can no longer be read, because the server has a new key.", other: "# entries on this device can no longer be read, because the server has a new key." }),
  earlier: (n: number) => plural(n, { one: "# entry from before was not sent yet", other: "# entries from before were not sent yet" }),
  earlierText: "You made them without a connection before you signed in again. Nobody else could read or send them.",
  send: "Send",
  sendAll: "Send all",
  discard: "Discard",
  discardAll: "Discard all",
};

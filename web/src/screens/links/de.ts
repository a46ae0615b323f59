import type en from "./en";

const de: typeof en = {
  forgot: {
    title: "Passwort vergessen?",
    text: "Gib die E-Mail deines Kontos ein. Du bekommst eine Mail mit einem Link, der ein neues Passwort setzt.",
    action: "Mail senden",
    done: (email) => `Wenn es zu ${email} ein Konto gibt, ist eine Mail unterwegs. Ihr Link gilt einmal, innerhalb von 30 Minuten. Schau auch in den Spam-Ordner.`,
  },
  reset: {
    title: "Neues Passwort setzen",
    text: "Es ersetzt das alte Passwort, meldet alle Geräte ab und löscht alle Zugriffstoken.",
    password: "Neues Passwort",
    action: "Passwort setzen",
    done: "Das neue Passwort ist gesetzt. Melde dich damit an.",
  },
  verify: {
    title: "E-Mail bestätigen",
    text: "Damit bestätigst du, dass du Mails an diese Adresse liest.",
    action: "Adresse bestätigen",
    done: "Danke. Die Adresse ist bestätigt.",
    again: "Einen neuen bekommst du bei der Anmeldung oder in den Einstellungen.",
  },
  revert: {
    title: "E-Mail-Adresse wiederherstellen",
    text: "Dein Konto bekommt die Adresse zurück, an die diese Mail ging. Alle Geräte werden abgemeldet und alle Zugriffstoken gelöscht.",
    action: "Adresse wiederherstellen",
    done: "Die Adresse ist wiederhergestellt, und alle Geräte sind abgemeldet. Setze jetzt ein neues Passwort, denn jemand anders kennt vielleicht das alte.",
    next: "Neues Passwort setzen",
  },
  join: {
    title: "Konto anlegen",
    text: "Du bist eingeladen, ein Budget oder ein Sparziel zu teilen. Sobald dein Konto da ist, siehst du die Einladung und entscheidest.",
    action: "Konto anlegen",
    done: "",
    again: "Bitte die Person, die dich eingeladen hat, die Mail noch einmal zu senden.",
    registered: (email) => `Du bist eingeladen, ein Budget oder ein Sparziel zu teilen, und ${email} hat schon ein Konto. Melde dich an, um die Einladung zu sehen.`,
    open: "Einladung ansehen",
    other: (email, own) => `Die Einladung ist für ${email}, und du bist als ${own} angemeldet. Melde dich ab und öffne den Link noch einmal.`,
  },
  taken: "Diese Adresse gehört jetzt zu einem anderen Konto.",
  home: "Zu Coffer",
  expired: "Dieser Link wurde schon benutzt oder ist abgelaufen.",
  another: "Neuen Link anfordern",
  unavailable: "Dieses Coffer sendet keine Mails. Frag, wer es betreibt.",
  signin: "Zur Anmeldung",
};

export default de;

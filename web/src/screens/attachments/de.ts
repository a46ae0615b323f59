import type en from "./en";

const de: typeof en = {
  attachments: "Anhänge",
  addFile: "Datei anhängen",
  takePhoto: "Foto machen",
  deleteFile: (name) => `${name} löschen`,
  fileDeleted: "Anhang gelöscht",
  fileTooLarge: (name) => `${name} ist größer als 10 MB`,
  fileType: "Anhänge sind Bilder, PDF oder reiner Text.",
  sending: (name) => `${name} wird gesendet`,
  saveFile: "Datei speichern",
  removeFile: (name) => `${name} nicht anhängen`,
  later: "Die Dateien werden nach dem Speichern gesendet.",
  notAttached: (names) => `Gespeichert, aber nicht angehängt: ${names}`,
  show: "Zeigen",
};

export default de;

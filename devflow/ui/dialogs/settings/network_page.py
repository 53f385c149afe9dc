"""Settings, Network: the way to servers that are not on this machine."""

from __future__ import annotations

from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from devflow.domain.errors import UserFacing
from devflow.ui.context import UiContext
from devflow.ui.dialogs.settings.drafts import Drafts
from devflow.ui.dialogs.settings.page import ProblemLine, SettingsPage, reason_row, sentence_of
from devflow.ui.widgets import Button, ComboBox, OptionRow


class NetworkPage(SettingsPage):
    def __init__(self, ctx: UiContext, drafts: Drafts) -> None:
        t = ctx.t
        super().__init__(
            ctx, "settingsNetwork", t("Network"), t("Servers on this machine are always reached directly.")
        )
        self._drafts = drafts
        self.proxy = ComboBox(ctx, name=t("Proxy"), width=220)
        self.proxy.setObjectName("proxyMode")
        self.proxy.add(t("The system's proxy"), "system")
        self.proxy.add(t("This address"), "manual")
        self.proxy.add(t("No proxy"), "none")
        self.address = QLineEdit()
        self.address.setObjectName("proxyUrl")
        self.address.setAccessibleName(t("Address of the proxy"))
        self.address.setPlaceholderText("http://127.0.0.1:7890")
        self.address.setFixedWidth(220)
        self.certificate = QLineEdit()
        self.certificate.setObjectName("caFile")
        self.certificate.setAccessibleName(t("Certificate of your own"))
        self.certificate.setPlaceholderText(t("None"))
        self.certificate.setFixedWidth(220)
        choose = Button(ctx, t("Choose…"))
        choose.setObjectName("chooseCaFileButton")
        choose.clicked.connect(self._choose)
        self._wrong = {
            "proxy": ProblemLine(self.proxy),
            "proxy_url": ProblemLine(self.address),
            "ca_file": ProblemLine(self.certificate),
        }
        self._address_row = OptionRow(ctx, t("Address of the proxy"), "", self.address)
        self.add_section(
            t("Proxy"),
            OptionRow(ctx, t("Proxy"), t("For servers that are not on this machine."), self.proxy),
            _with_problem(self._address_row, self._wrong["proxy"], self._wrong["proxy_url"]),
        )
        self.add_section(
            t("Certificates"),
            _with_problem(
                OptionRow(
                    ctx,
                    t("Certificate of your own"),
                    t("A PEM file that is trusted beside the system's."),
                    self.certificate,
                    choose,
                ),
                self._wrong["ca_file"],
            ),
        )
        self.finish()
        self.show_values()
        self.proxy.currentIndexChanged.connect(self._proxy_chosen)
        self.address.textEdited.connect(self._address_typed)
        self.certificate.textEdited.connect(self._certificate_typed)
        drafts.changed.connect(self.show_values)

    def first_field(self) -> QWidget | None:
        return self.proxy

    def show_values(self) -> None:
        values, t = self._drafts.network, self._ctx.t
        self.proxy.select_data(values["proxy"])
        for line, name in ((self.address, "proxy_url"), (self.certificate, "ca_file")):
            if line.text() != values[name]:
                line.setText(values[name])
        manual = values["proxy"] == "manual"
        reason_row(self._address_row, manual, t("Scheme, host and port."), t("Available with “This address”."))

    def show_wrong(self, field: str, error: UserFacing) -> QWidget | None:
        line = self._wrong.get(field)
        if line is None:
            return None
        line.say(sentence_of(self._ctx.t, error))
        return {"proxy": self.proxy, "proxy_url": self.address, "ca_file": self.certificate}[field]

    def _proxy_chosen(self, _index: int) -> None:
        self._set("proxy", self.proxy.currentData())

    def _address_typed(self, text: str) -> None:
        self._set("proxy_url", text)

    def _certificate_typed(self, text: str) -> None:
        self._set("ca_file", text)

    def _set(self, name: str, value: object) -> None:
        for line in self._wrong.values():
            line.say("")
        self._drafts.set(self._drafts.network, name, value)

    def _choose(self) -> None:
        self._ctx.tasks.launch(self._pick(), what="choose a certificate", owner=self)

    async def _pick(self) -> None:
        t = self._ctx.t
        chosen = await self._ctx.dialogs.choose_file(
            t("Choose a certificate"), self.certificate.text(), [t("Certificates (*.pem *.crt *.cer)")]
        )
        if chosen:
            self._set("ca_file", chosen)


def _with_problem(row: OptionRow, *lines: ProblemLine) -> QWidget:
    holder = QWidget()
    column = QVBoxLayout(holder)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    column.addWidget(row)
    for line in lines:
        line.setContentsMargins(0, 0, 0, 8)
        column.addWidget(line)
    return holder

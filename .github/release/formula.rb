# Filled in by `python .github/release/build.py formula`; for a tap of your own.
class Dlpctl < Formula
  desc "@DESCRIPTION@"
  homepage "@SOURCE@"
  url "@SOURCE@/releases/download/v@VERSION@/dlpctl-@VERSION@.tar.gz"
  sha256 "@SDIST_SHA256@"
  license "Apache-2.0"

  depends_on "python@3.13"

  resource "man" do
    url "@SOURCE@/releases/download/v@VERSION@/dlpctl.1"
    sha256 "@MAN_SHA256@"
  end

  def install
    system "python3.13", "-m", "venv", libexec
    system libexec/"bin/pip", "install", "--no-cache-dir", buildpath
    bin.install_symlink libexec/"bin/dlpctl"
    bash_completion.install "completions/dlpctl.bash" => "dlpctl"
    zsh_completion.install "completions/_dlpctl"
    fish_completion.install "completions/dlpctl.fish"
    man1.install resource("man")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/dlpctl --version")
    assert_equal "Mail j***@example.com", pipe_output("#{bin}/dlpctl mask", "Mail jane.doe@example.com").strip
  end
end
